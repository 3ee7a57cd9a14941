"""`QualityConfig`: names are checked, command lines reach every setting."""

from __future__ import annotations

from dataclasses import fields

import pytest
from jsonargparse import ArgumentParser

from attentionmixer.data.quality import RULES, Flag, QualityConfig, parse_flags
from attentionmixer.errors import ConfigError


def test_every_rule_has_its_settings_under_its_name_and_runs_by_default():
    assert QualityConfig().rules == tuple(rule.name for rule in RULES)
    assert {rule.name for rule in RULES} == {field.name for field in fields(QualityConfig)} - {"rules"}


def test_no_two_rules_set_the_same_flag():
    bits = [rule.flag for rule in RULES if rule.flag]
    assert len(set(bits)) == len(bits) == len(RULES) - 1


def test_an_unknown_rule_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="no quality rule 'spikes'; did you mean 'spike'"):
        QualityConfig(rules=("stuck", "spikes"))


def test_flags_have_names_and_an_unknown_one_is_refused():
    assert parse_flags(("stuck", "Unit")) == Flag.STUCK | Flag.UNIT
    assert parse_flags(()) == Flag(0)
    with pytest.raises(ConfigError, match="no quality flag stuk"):
        parse_flags(("stuk",))


def test_settings_of_rules_can_be_given_on_a_command_line():
    parser = ArgumentParser(exit_on_error=False)
    parser.add_class_arguments(QualityConfig, "quality")
    arguments = [
        '--quality.rules=["stuck","range"]',
        "--quality.stuck.readings=9",
        '--quality.range.limits={"A": [0, 500]}',
    ]
    config = parser.instantiate(parser.parse_args(arguments)).quality
    assert config.rules == ("stuck", "range")
    assert config.stuck.readings == 9
    assert dict(config.range.limits) == {"A": (0.0, 500.0)}
