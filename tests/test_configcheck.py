"""What is refused before a configuration is parsed for real."""

from __future__ import annotations

import pytest

from attentionmixer.configcheck import GROUPS, check_config_text, check_group_argument
from attentionmixer.errors import ConfigError
from attentionmixer.training.allowed import ALLOWED_CALLBACKS


def test_an_ordinary_configuration_comes_back_as_a_tree() -> None:
    text = "seed: 3\ndata: {lookback: 24, split: {train: 0.6}}\ntrainer:\n  callbacks:\n    - class_path: "
    tree = check_config_text(text + ALLOWED_CALLBACKS[0], "c.yaml")
    assert tree["data"] == {"lookback": 24, "split": {"train": 0.6}}
    assert check_config_text("", "c.yaml") is None


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(40))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "anchors or aliases"),
        ("a: &x 1\n", "anchors or aliases"),
        ("<<: {a: 1}\nb: *c\n", "anchors or aliases"),
        ("!!python/name:os.system x\n", "not valid YAML"),
        ("a: !!python/module:os\n", "not valid YAML"),
        ("a: 1\n---\nb: 2\n", "not valid YAML"),
        ("a: [1, 2\n", "not valid YAML"),
        ("a: \x00\n", "not valid YAML"),
        ("a: " + "x" * 1_000_001, "larger than 1,000,000 bytes"),
        ("[" * 900_000, "nested deeper"),
        ("\n".join(" " * i + "a:" for i in range(60)), "nested deeper"),
        ("a: 2024-02-31\n", "day is out of range"),
        ("seed: 1\nlevels: [0.1, 0.9]\nseed: 2\n", "'seed' twice, in lines 1 and 3"),
        ("trainer:\n  callbacks:\n    - class_path: a\n      class_path: b\n", "'class_path' twice, in lines 3 and 4"),
        ("trainer: {callbacks: [{class_path: os.system}]}\n", "'os.system', which is not allowed"),
        ("anything: [[{deep: {class_path: os.system}}]]\n", "'os.system', which is not allowed"),
        ("trainer: {callbacks: [{class_path: [a]}]}\n", "not allowed"),
        *[
            (f"{group.replace('.', ': {')}: os.path{'}' * group.count('.')}\n", f"{group!r} must hold")
            for group in GROUPS
        ],
    ],
)
def test_what_is_not_allowed_is_refused_with_file_and_reason(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config_text(text, "c.yaml")
    message = str(caught.value)
    assert message.startswith("c.yaml")
    assert says in message
    assert len(message) < 1000


@pytest.mark.parametrize("group", GROUPS)
def test_the_same_rules_hold_for_a_group_on_the_command_line(group: str) -> None:
    check_group_argument(group, "{some_key: 1}")
    for text in ("os.path", "[os.path]", "{class_path: os.path}", "{a: &a 1}", "{a: 1, a: 2}"):
        with pytest.raises(ConfigError, match="the command line"):
            check_group_argument(group, text)
