"""What a configuration may contain, checked before anything parses it for real.

Safe YAML only, no anchors or aliases, bounded size, no class outside the allow-list, and no text in the place of
settings, which a parser could take for the name of a class and import.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from .data.quality.rules import RULES
from .errors import ConfigError
from .training.allowed import ALLOWED_CALLBACKS

MAX_CONFIG_BYTES = 1_000_000
MAX_DEPTH = 50
#: The library reads some ten thousand a second, three times over; ours have a few hundred.
MAX_TOKENS = 20_000
MAX_SCALAR = 10_000
_OPENING = (
    yaml.BlockMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.FlowSequenceStartToken,
)
_CLOSING = (yaml.BlockEndToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)
#: Keys that hold settings. A text in the place of one could be taken for the name of a class, and imported.
GROUPS = (
    "data",
    "data.limits",
    "data.quality",
    *(f"data.quality.{rule.name}" for rule in RULES),
    "data.split",
    "data.scaling",
    "data.simulation",
    "model",
    "optimizer",
    "regularizer",
    "trainer",
    "baselines",
)


def check_config_text(text: str, source: str) -> Any:
    """Parse YAML safely.

    Raises `ConfigError` for aliases, unknown tags, a key given twice, too many bytes or entries, too long a value, too
    deep a nesting, values that cannot be read, or forbidden class paths.
    """
    if len(text.encode()) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{source} is larger than {MAX_CONFIG_BYTES:,} bytes, which no configuration needs")
    try:
        _check_tokens(text, source)
        _check_keys_once(yaml.compose(text, Loader=yaml.SafeLoader), source)
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{source} is not valid YAML: {error}") from error
    except ValueError as error:  # such as the 45th of a month, or a number of thousands of digits
        raise ConfigError(f"{source} holds a value that cannot be read: {error}") from error
    for path in _class_paths(tree):
        if path not in ALLOWED_CALLBACKS:
            raise ConfigError(
                f"{source} names the class {path[:80]!r}, which is not allowed; allowed: {', '.join(ALLOWED_CALLBACKS)}"
            )
    for group in GROUPS:
        _check_group(tree, group, source)
    return tree


def _check_tokens(text: str, source: str) -> None:
    """Neither aliases, nor much, nor deep. Ends at the first: the library's time grows with the square of the depth."""
    depth = 0
    for number, token in enumerate(yaml.scan(text)):
        if number > MAX_TOKENS:
            raise ConfigError(f"{source} has more entries than any configuration has")
        if isinstance(token, yaml.ScalarToken) and len(token.value) > MAX_SCALAR:
            line = token.start_mark.line + 1
            raise ConfigError(f"{source} has a value of {len(token.value):,} characters in line {line}")
        if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
            raise ConfigError(f"{source} uses YAML anchors or aliases; write the values out")
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if depth > MAX_DEPTH:
            raise ConfigError(f"{source} is nested deeper than any configuration is")


def _check_keys_once(node: yaml.Node | None, source: str) -> None:
    """YAML libraries let the last of two equal keys win, and the first section's settings would be lost unseen."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check_keys_once(item, source)
    if not isinstance(node, yaml.MappingNode):
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            line = key.start_mark.line + 1
            if key.value in lines:
                raise ConfigError(f"{source} gives {key.value[:80]!r} twice, in lines {lines[key.value]} and {line}")
            lines[key.value] = line
        _check_keys_once(value, source)


def _check_group(tree: Any, group: str, source: str) -> None:
    for key in group.split("."):
        if not isinstance(tree, Mapping) or key not in tree:
            return
        tree = tree[key]
    if tree is not None and not isinstance(tree, Mapping):
        raise ConfigError(f"{source}: {group!r} must hold settings (key: value), not {str(tree)[:60]!r}")


def check_group_argument(group: str, text: str) -> None:
    """Apply the rules for files to ``--data '{…}'`` and the like."""
    for key in reversed(group.split(".")):
        text = f"{key}:\n" + "\n".join(f"  {line}" for line in text.splitlines())
    check_config_text(text, "the command line")


def _class_paths(tree: Any) -> list[str]:
    if isinstance(tree, Mapping):
        own = [str(tree["class_path"])] if "class_path" in tree else []
        return own + [path for value in tree.values() for path in _class_paths(value)]
    if isinstance(tree, list):
        return [path for value in tree for path in _class_paths(value)]
    return []
