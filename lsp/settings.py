"""Options as the editor sends them (all optional, camelCase) → Settings, resolved and frozen.

A bad option is reported and left at its default; the rest applies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from intarsia.engine.ipc.messages import Decoding


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What the server goes by. Tokens are counted as the infill package estimates them."""

    enabled: bool = True
    preload: bool = True  # start the engine and load the model along with the editor
    model: str | None = None  # None: the engine's default
    decoding: Decoding = "speculative"
    prefetch: bool = True  # in idle time, at the cursor's place in a document that was edited
    warm_start: bool = True  # from what earlier fills had written: the same text in fewer passes
    debounce_ms: int = 75
    deadline_ms: int = 10_000  # of an automatic request; the next key cancels it anyway
    invoked_deadline_ms: int = 20_000  # of one that the user asked for
    max_candidates: int = 3  # for an invoked request; an automatic one gets one
    edit_candidates: int = 4  # answers weighed where a selection is filled; 1: none but the first
    max_prefix_tokens: int = 1536
    max_suffix_tokens: int = 384
    max_hole_tokens: int = 128
    disabled_languages: tuple[str, ...] = ()  # LSP language ids
    exclude: tuple[str, ...] = ()  # see exclusion.py
    exclude_secrets: bool = True
    drafts: bool = True  # show a client that can draw it how a fill settles
    sure_confidence: float = 0.7  # a token below this is unsure
    preview_edits: bool = True  # have the client show an inline edit before it is applied
    hole_marks: tuple[str, ...] = ()  # the user's own marks of a hole, besides the languages'
    rewrite_noise: float = 0.4  # share of a selection's tokens that a rewrite masks again
    repository_tuning: bool = False  # use what `intarsia train --repo` kept


_Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=60_000)]
_Tokens = Annotated[int, msgspec.Meta(ge=1, le=32_768)]

_OPTIONS: Mapping[str, tuple[str, Any]] = {
    "enabled": ("enabled", bool),
    "preload": ("preload", bool),
    "model": ("model", Annotated[str, msgspec.Meta(min_length=1)]),
    "decoding": ("decoding", Decoding),
    "readAhead": ("prefetch", bool),
    "warmStart": ("warm_start", bool),
    "debounceMs": ("debounce_ms", Annotated[int, msgspec.Meta(ge=0, le=10_000)]),
    "deadlineMs": ("deadline_ms", _Milliseconds),
    "invokedDeadlineMs": ("invoked_deadline_ms", _Milliseconds),
    "maxCandidates": ("max_candidates", Annotated[int, msgspec.Meta(ge=1, le=10)]),
    "editCandidates": ("edit_candidates", Annotated[int, msgspec.Meta(ge=1, le=10)]),
    "maxPrefixTokens": ("max_prefix_tokens", _Tokens),
    "maxSuffixTokens": ("max_suffix_tokens", _Tokens),
    "maxHoleTokens": ("max_hole_tokens", _Tokens),
    "disabledLanguages": ("disabled_languages", tuple[str, ...]),
    "exclude": ("exclude", tuple[str, ...]),
    "excludeSecrets": ("exclude_secrets", bool),
    "drafts": ("drafts", bool),
    "sureConfidence": ("sure_confidence", Annotated[float, msgspec.Meta(ge=0, le=1)]),
    "previewEdits": ("preview_edits", bool),
    "holeMarks": ("hole_marks", tuple[Annotated[str, msgspec.Meta(min_length=1)], ...]),
    "rewriteNoise": ("rewrite_noise", Annotated[float, msgspec.Meta(gt=0, le=1)]),
    "repositoryTuning": ("repository_tuning", bool),
}


def resolve_settings(options: Mapping[str, object]) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings, and one line for each option that cannot be used. None is no option."""
    fields: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in options.items():
        if name not in _OPTIONS:
            problems.append(f"unknown option {name!r}; known are: {', '.join(_OPTIONS)}")
        elif value is not None:
            field, kind = _OPTIONS[name]
            try:
                fields[field] = msgspec.convert(value, kind)
            except msgspec.ValidationError as error:
                problems.append(f"option {name!r} keeps its default: {error}")
    return Settings(**fields), tuple(problems)
