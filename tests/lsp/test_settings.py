"""Options as sent → Settings."""

import pytest

from intarsia.lsp.settings import Settings
from intarsia.lsp.settings_in_force import resolve_settings


def test_no_options_give_the_defaults() -> None:
    assert resolve_settings({}) == (Settings(), ())


def test_good_options_apply() -> None:
    settings, problems = resolve_settings(
        {
            "debounceMs": 0,
            "decoding": "entropy",
            "exclude": ["*.sql"],
            "model": "/m",
            "preload": False,
        }
    )
    assert problems == ()
    assert settings == Settings(
        debounce_ms=0, decoding="entropy", exclude=("*.sql",), model="/m", preload=False
    )


@pytest.mark.parametrize("threshold", ["eager", "balanced", "subtle", "60", 60, 0])
def test_a_threshold_is_a_level_or_a_percentage(threshold: str | int) -> None:
    assert resolve_settings({"showThreshold": threshold}) == (
        Settings(show_threshold=threshold),
        (),
    )


def test_null_means_the_default() -> None:
    assert resolve_settings({"model": None, "debounceMs": None}) == (Settings(), ())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("debounceMs", -1),
        ("debounceMs", "75"),
        ("deadlineMs", 0),
        ("maxCandidates", True),
        ("decoding", "quick"),
        ("exclude", "*.py"),
        ("exclude", [1]),
        ("enabled", 1),
        ("model", ""),
        ("debounce", 5),
        ("showThreshold", "bold"),
        ("showThreshold", 101),
        ("showThreshold", 0.5),
    ],
)
def test_a_bad_option_is_reported_by_name_and_the_rest_applies(option: str, value: object) -> None:
    settings, problems = resolve_settings({option: value, "maxHoleTokens": 32})
    assert settings == Settings(max_hole_tokens=32)
    (problem,) = problems
    assert repr(option) in problem


def test_each_bad_option_has_its_own_line() -> None:
    _, problems = resolve_settings({"enabled": "no", "preload": "no", "what": 1})
    assert len(problems) == 3
