"""Settings that a client sends: any JSON, for the window, a folder and a language."""

from typing import Any

import msgspec
from harness.target import Target
from hypothesis import given
from hypothesis import strategies as st

from intarsia.lsp.settings import FOLDER_OPTIONS, OPTIONS, Settings
from intarsia.lsp.settings_in_force import (
    resolve_folder_settings,
    resolve_language_settings,
    resolve_settings,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("python"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
keys = st.sampled_from([*OPTIONS, "settle", "unknown"]) | st.text()
options = st.dictionaries(keys, values | st.dictionaries(keys, values, max_size=3), max_size=6)


@given(options, options)
def resolve(window_options: dict[str, Any], folder_options: dict[str, Any]) -> None:
    """Resolve the settings; each one is valid, and a folder changes no other one's."""
    window, problems = resolve_settings(window_options)
    folder, more = resolve_folder_settings(window, folder_options)
    languages, most = resolve_language_settings(folder)
    for settings in (window, folder, *languages.values()):
        msgspec.convert(msgspec.to_builtins(settings), Settings)
    for key, option in OPTIONS.items():
        if key not in FOLDER_OPTIONS:
            assert getattr(folder, option.name) == getattr(window, option.name)
    assert all(isinstance(line, str) for line in (*problems, *more, *most))


def check(data: bytes) -> None:
    """Let Hypothesis make the options of these bytes."""
    resolve.hypothesis.fuzz_one_input(data)  # type: ignore[attr-defined]


TARGET = Target(
    about="settings of a client (Hypothesis)",
    check=check,
    seeds=[bytes(range(200)), b"\x01" * 64, bytes(range(255, 0, -2))],
    watched=["intarsia.lsp.settings_in_force", "intarsia.lsp.settings_in_force"],
    weight=1,
    max_bytes=512,
)
