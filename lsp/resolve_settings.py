"""Turns the options that a client sends into the settings of its windows, folders and languages.

A bad option is reported, and keeps the value that is in force without it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from intarsia.lsp.settings import FOLDER_OPTIONS, LANGUAGE_OPTIONS, OPTIONS, Settings

_OLD_DECODINGS = {"verified": "speculative", "left_to_right": "autoregressive"}


def resolve_settings(options: Mapping[str, object]) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings, and one line for each option that is unusable or has a new name.

    An option that is None keeps its default.
    """
    problems: list[str] = []
    fields = _usable(_with_current_names(options, problems), problems, kept="its default")
    return Settings(**fields), tuple(problems)


def resolve_folder_settings(
    window: Settings, options: Mapping[str, object]
) -> tuple[Settings, tuple[str, ...]]:
    """Return a folder's settings, and one line for each option that is unusable.

    The window's settings hold in the folder where its options say nothing, and always for what is
    not among ``FOLDER_OPTIONS``: no folder chooses the model.
    """
    problems: list[str] = []
    own = {key: value for key, value in options.items() if key in FOLDER_OPTIONS}
    fields = _usable(own, problems, kept="the window's value")
    return msgspec.structs.replace(window, **fields), tuple(problems)


def resolve_language_settings(settings: Settings) -> tuple[Mapping[str, Settings], tuple[str, ...]]:
    """Return the settings in each language that has its own, and one line for each bad value."""
    found: dict[str, Settings] = {}
    problems: list[str] = []
    for language, options in settings.languages.items():
        mine: list[str] = []
        known = {key: value for key, value in options.items() if key in LANGUAGE_OPTIONS}
        mine += [f"option {key!r} is not per language" for key in options.keys() - known.keys()]
        fields = _usable(known, mine, kept="the value of all languages")
        found[language] = msgspec.structs.replace(settings, **fields)
        problems += [f"languages, {language!r}: {line}" for line in sorted(mine)]
    return found, tuple(problems)


def _usable(options: Mapping[str, object], problems: list[str], *, kept: str) -> dict[str, Any]:
    """Return the values that are given and valid, by field."""
    fields: dict[str, Any] = {}
    for key, value in options.items():
        if key not in OPTIONS:
            problems.append(f"unknown option {key!r}; known are: {', '.join(OPTIONS)}")
        elif value is not None:
            option = OPTIONS[key]
            try:
                fields[option.name] = msgspec.convert(value, option.type)
            except msgspec.ValidationError as error:
                problems.append(f"option {key!r} keeps {kept}: {error}")
    return fields


def _with_current_names(options: Mapping[str, object], problems: list[str]) -> Mapping[str, object]:
    """Read ``settle`` and its values, the names before 0.1.0, as ``decoding`` until 0.2.0."""
    old = options.get("settle")
    if "settle" not in options:
        return options
    current = {key: value for key, value in options.items() if key != "settle"}
    if old is None:
        return current
    decoding = _OLD_DECODINGS.get(old, old) if isinstance(old, str) else old
    if current.get("decoding") is not None:
        decoding = current["decoding"]
    problems.append(f"option 'settle' ends with 0.2.0: write 'decoding': {decoding!r} instead")
    return {**current, "decoding": decoding}
