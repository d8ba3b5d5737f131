"""Which variables are recommended, and which never are."""

from __future__ import annotations

import pytest
from made_up.advised import COMMON, FACTS, advised, entry, helped

from onesided.environments import settings
from onesided.studies.stfc.progress.advice import (
    shell_text,
    variables_say,
)


def test_without_other_settings_variables_were_not_tried():
    found = advised(COMMON)
    assert variables_say(found) == "Not tried in this campaign."
    assert "\nexport" not in shell_text(found, FACTS)


def test_a_setting_that_turns_nothing_does_not_help():
    before, after = helped(COMMON, verdict="waits", tau_s=None)
    found = advised(before, after)
    assert found.chosen is None
    assert variables_say(found).startswith("No variable helps: async_thread turns 0 of 1 cell")


def test_a_cell_that_waits_in_part_with_the_setting_is_said_but_not_counted():
    found = advised(*helped(COMMON, verdict="partial", tau_s=None))
    assert found.chosen is None
    assert "turns 0 of 1 cell that wait, makes 1 partial" in variables_say(found)


def test_a_setting_that_turns_a_cell_is_chosen_with_its_variables():
    before, after = helped(COMMON)
    found = advised((before, 1e-7), (after, 3e-7))
    assert found.chosen.setting == "async_thread"
    assert found.variables == settings.value("async_thread", "mpich", "5.0.2").variables
    assert found.chosen.factor == pytest.approx(3.0)
    assert "0 to independent, 1 to delayed by 2 ms" in variables_say(found)


def test_a_setting_that_fails_anywhere_is_not_chosen():
    crashed = entry("crash", state="idle", setting="async_thread")
    found = advised(*helped(COMMON), (crashed, None))
    assert found.chosen is None
    assert variables_say(found).startswith("No variable is recommended")
    assert "1 cell failed with it (crash)" in variables_say(found)


def test_a_failure_that_the_default_has_too_is_not_the_settings():
    before, after = helped(entry("crash", state="idle"), verdict="crash", tau_s=None)
    found = advised(*helped(COMMON), (before, None), (after, None))
    assert found.chosen is not None


@pytest.mark.parametrize(
    "after", [{"valid_launches": 4}, {"verdict": "undecided"}, {"verdict": "partial"}]
)
def test_a_cell_that_is_not_decided_with_the_setting_turns_nothing(after):
    assert advised(*helped(COMMON, **after)).chosen is None


def test_a_setting_that_spoils_as_much_as_it_turns_is_not_chosen():
    worse = helped(entry(), verdict="waits", tau_s=None)
    found = advised(*helped(COMMON), *worse)
    assert found.effects[0].gain == 0
    assert found.chosen is None


def test_the_setting_that_turns_most_cells_is_chosen(monkeypatch):
    values = {
        "async_thread": settings.SettingValue({"ONE": "1"}, None),
        "other": settings.SettingValue({"TWO": "2"}, None),
    }
    monkeypatch.setattr(settings, "names", lambda: list(values))
    monkeypatch.setattr(settings, "value", lambda setting, family, version: values[setting])
    second = entry("waits", operation="get", flavor="create")
    both = [{**helped(cell)[1], "setting": "other", "test": "T"} for cell in (COMMON, second)]
    found = advised(*helped(COMMON), second, *both)
    assert found.variables == {"TWO": "2"}


def test_an_unavailable_setting_says_why():
    after = helped(COMMON, verdict="unavailable", detail="no such thread")[1]
    found = advised(COMMON, after, mpi=("openmpi", "5.0.11"))
    assert found.variables == {}
    reason = settings.value("async_thread", "openmpi", "5.0.11").unavailable
    assert variables_say(found) == f"Not tried: async_thread was not measured ({reason})."


def test_a_setting_without_effect_was_not_tried():
    after = helped(COMMON, verdict="no effect", detail="asked tcp, found posix", tau_s=None)[1]
    found = advised(COMMON, after)
    assert found.chosen is None
    assert "async_thread was not measured (no effect: asked tcp, found posix)" in (
        variables_say(found)
    )


def test_a_setting_that_is_no_longer_declared_is_not_recommended():
    before, after = helped(COMMON, setting="forgotten")
    found = advised(before, after)
    assert found.chosen is None


def test_a_latency_without_the_settings_effect_is_not_the_settings():
    before, after = helped(COMMON)
    void = helped(entry(), verdict="no effect", tau_s=None)
    found = advised((before, 1e-7), (after, 3e-7), (void[0], 1e-7), (void[1], 1e-7))
    assert (found.chosen.factor, len(found.chosen.factors)) == (pytest.approx(3.0), 1)


def test_where_nothing_waits_no_variable_is_needed():
    found = advised(entry(), helped(entry(), verdict="independent", tau_s=None)[1])
    assert "no variable is needed" in variables_say(found)


def test_where_nothing_was_measured_the_reason_is_said():
    found = advised((entry("unavailable", valid=0, detail="no wheel"), None))
    assert variables_say(found) == (
        "Nothing was decided at the default setting (unavailable: no wheel)."
    )
