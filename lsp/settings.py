"""The server's settings: each with its default, type, range and description, in this one place.

Clients send options: camelCase keys, all optional (settings_in_force.py). docs/settings.md,
Neovim's help and VS Code's manifest repeat what is written here: tests/support/settings_table.py
writes the first two.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta

from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.calibration import ABOUT_THRESHOLD, Threshold

Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Quantize: TypeAlias = Literal["auto", "none", "fp8", "int4"]
FillAhead: TypeAlias = Literal["always", "onPower", "off"]
NextEdit: TypeAlias = Literal["off", "sure", "balanced", "bold"]
InComments: TypeAlias = Literal["never", "documentation", "always"]
UnderStrain: TypeAlias = Literal["same", "slower", "off"]
_UNDER_STRAIN = {
    "same": "As usual.",
    "slower": "After a pause of four times debounceMs.",
    "off": "Only when requested by a command.",
}

CHOICES: Mapping[str, Mapping[str, str]] = {
    "device": {
        "auto": "The GPU if there is one that torch can use, else the CPU.",
        "cpu": "The CPU.",
        "cuda": "An NVIDIA GPU.",
        "mps": "An Apple GPU.",
    },
    "quantize": {
        "auto": "The first of 16 bits, fp8 and int4 that fits into the device's free memory.",
        "none": "As stored in the model's files.",
        "fp8": "Eight bits, on NVIDIA GPUs of compute capability 9 or 10.",
        "int4": "Four bits.",
    },
    "decoding": {
        "speculative": "Several tokens per pass, each verified: the model's greedy text, sooner.",
        "autoregressive": "One token per pass, left to right, for comparison.",
    },
    "fillAhead": {
        "always": "Even on battery.",
        "onPower": "Only while the computer is not on battery.",
        "off": "Never.",
    },
    "nextEdit": {
        "off": "Never.",
        "sure": "Uses of what you renamed, the same edit where it fits unchanged, and corrections "
        "that two ways of writing them agree on. When measured, 92 % of the repeated edits were "
        "right (22 of 24), and 100 % of the corrections (23 of 23).",
        "balanced": "Also corrections very likely due to your edit: 96 % were right (25 of 26).",
        "bold": "Also corrections probably due to your edit, deletions included: 88 % were right "
        "(35 of 40). Also repeats your edit in other open files.",
    },
    "inComments": {
        "never": "Neither in comments nor in docstrings.",
        "documentation": "Only in a docstring or documentation comment that has no words yet.",
        "always": "In all comments and docstrings.",
    },
    "onBattery": _UNDER_STRAIN,
    "whenBusy": _UNDER_STRAIN,
}
"""The values that a setting may have, and what they do, by the key that clients send."""

_Tokens = Meta(ge=1, le=32_768)
_Milliseconds = Meta(ge=1, le=60_000)
_Candidates = Meta(ge=1, le=10)
_NotEmpty = Annotated[str, Meta(min_length=1)]

PER_FOLDER = Meta(extra_json_schema={"scope": "resource"})
"""A setting that depends on the code: each of several opened folders may have its own value. All
others depend on the user or the machine, and hold for the whole window."""

PER_LANGUAGE = Meta(extra_json_schema={"scope": "language-overridable"})
"""A setting per folder that each language may override."""

PER_MACHINE = Meta(extra_json_schema={"scope": "machine"})
"""A setting that names what is downloaded and loaded: only the user sets it, no opened folder."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The server's settings, with the defaults where the client sent nothing.

    Tokens are estimated from characters, as the infill package does.
    """

    enabled: Annotated[bool, PER_LANGUAGE, Meta(description="Turns suggestions on.")] = True
    automatic: Annotated[
        bool,
        PER_LANGUAGE,
        Meta(
            description="Suggest while you type. Off: only when requested by a key or a command, "
            "and without next edits."
        ),
    ] = True
    preload: Annotated[
        bool,
        Meta(
            description="Start the engine and load the model when the editor starts, so that the "
            "first suggestion comes quickly. Needs about 1.5 GB of memory."
        ),
    ] = True
    model: Annotated[
        _NotEmpty | None,
        PER_MACHINE,
        Meta(
            description="The model: a name in the catalog, a GGUF file, a folder, or remote:NAME "
            "for your own server. Empty: the engine's default."
        ),
    ] = None
    device: Annotated[
        Device,
        PER_MACHINE,
        Meta(description="Where the model runs. Takes effect when the engine next starts."),
    ] = "auto"
    quantize: Annotated[
        Quantize,
        PER_MACHINE,
        Meta(
            description="Number format of DiffusionGemma's large matrices. Takes effect when the "
            "engine next starts."
        ),
    ] = "auto"
    decoding: Annotated[Decoding, Meta(description="How a hole is filled.")] = "speculative"
    prefetch: Annotated[
        bool,
        Meta(
            description="In idle time, read the code around the cursor in files that you have "
            "edited, so that the first suggestion there comes sooner."
        ),
    ] = msgspec.field(default=True, name="readAhead")
    project_context: Annotated[
        bool,
        PER_FOLDER,
        Meta(
            description="Show the model code from other files of the same opened folder: "
            "signatures of imported names, recent edits, similar code. An index of the folder is "
            "kept in your cache."
        ),
    ] = True
    add_imports: Annotated[
        bool,
        PER_FOLDER,
        Meta(
            description="When a suggestion uses a name that the file does not import, add the "
            "import that other files of the folder use for it. Needs `projectContext`."
        ),
    ] = True
    fill_ahead: Annotated[
        FillAhead,
        Meta(
            description="While a suggestion is shown, already request what may follow it: the "
            "text after it, and the next line."
        ),
    ] = "onPower"
    next_edit: Annotated[
        NextEdit,
        PER_LANGUAGE,
        Meta(
            description="After an edit, offer to change other lines of the file that no longer "
            "fit it. They are searched for in idle time."
        ),
    ] = "sure"
    warm_start: Annotated[
        bool,
        Meta(
            description="Start from the text of earlier suggestions: the same result, sooner. "
            "Off: each suggestion is written from scratch, for measurements."
        ),
    ] = True
    debounce_ms: Annotated[
        int,
        Meta(ge=0, le=10_000),
        Meta(description="Pause in typing before the model is asked, in milliseconds."),
    ] = 75
    deadline_ms: Annotated[
        int,
        _Milliseconds,
        Meta(
            description="How long an automatic suggestion may take, in milliseconds. The next "
            "key cancels it, unless its text begins with that key."
        ),
    ] = 10_000
    invoked_deadline_ms: Annotated[
        int,
        _Milliseconds,
        Meta(description="How long suggestions requested by a command may take, in milliseconds."),
    ] = 20_000
    max_candidates: Annotated[
        int,
        _Candidates,
        Meta(
            description="How many suggestions to offer, at most, when they are requested by a "
            "command. Improbable ones are left out. An automatic request gets one."
        ),
    ] = 3
    edit_candidates: Annotated[
        int,
        _Candidates,
        Meta(
            description="How many candidates to compare when a selection is filled and the model "
            "is unsure of the first. 1: only the first."
        ),
    ] = 4
    max_prefix_tokens: Annotated[
        int, _Tokens, Meta(description="How much is read before the cursor, in tokens.")
    ] = 1536
    max_suffix_tokens: Annotated[
        int, _Tokens, Meta(description="How much is read after the cursor, in tokens.")
    ] = 384
    max_hole_tokens: Annotated[
        int, _Tokens, Meta(description="The longest suggestion, in tokens.")
    ] = 128
    disabled_languages: Annotated[
        tuple[str, ...],
        PER_FOLDER,
        Meta(
            description="Identifiers of languages that get no suggestions, for example "
            "`markdown`. They also apply to code in those languages inside Markdown, HTML, "
            "Vue and Svelte files."
        ),
    ] = ()
    languages: Annotated[
        dict[_NotEmpty, dict[_NotEmpty, Any]],
        PER_FOLDER,
        Meta(
            description="Values of the per-language settings for single languages, for example "
            '{"python": {"inStrings": false}}.'
        ),
    ] = msgspec.field(default_factory=dict)
    in_comments: Annotated[
        InComments,
        PER_LANGUAGE,
        Meta(
            description="Suggest in comments and docstrings while you type. A text there must be "
            "more probable than code to pass showThreshold. A command always gets a suggestion "
            "there."
        ),
    ] = "always"
    in_strings: Annotated[
        bool,
        PER_LANGUAGE,
        Meta(
            description="Suggest in string literals while you type. A text there must be more "
            "probable than code to pass showThreshold. Off: only code inside a string, keys, "
            "module names, lists of words, and strings in data and markup formats such as JSON "
            "and HTML get suggestions."
        ),
    ] = True
    over_menu: Annotated[
        bool,
        PER_LANGUAGE,
        Meta(
            description="Suggest while the editor's own menu of completions is open, as a "
            "continuation of its selected item. Neovim does not report that item, so there this "
            "is off unless you set it."
        ),
    ] = True
    on_battery: Annotated[
        UnderStrain,
        Meta(description="Suggestions while you type, when the computer is on battery."),
    ] = "slower"
    when_busy: Annotated[
        UnderStrain,
        Meta(
            description="Suggestions while you type, when the computer is busy with other work: "
            "a load average above three per core."
        ),
    ] = "slower"
    statistics: Annotated[
        bool,
        Meta(
            description="Count on this machine how many suggestions were shown, accepted and "
            "kept, by language, and why others were not shown. `intarsia status --stats` shows "
            "the counts. They contain no text, names or paths, and are never sent."
        ),
    ] = True
    exclude: Annotated[
        tuple[str, ...],
        PER_FOLDER,
        Meta(description="Files that are never read, as patterns like `**/generated/**`."),
    ] = ()
    exclude_secrets: Annotated[
        bool,
        PER_FOLDER,
        Meta(
            description="Never read files that look like secrets (`.env`, keys, credentials). "
            "With a remote model, no folder can switch this off."
        ),
    ] = True
    show_threshold: Annotated[Threshold, PER_LANGUAGE, Meta(description=ABOUT_THRESHOLD)] = (
        "balanced"
    )
    drafts: Annotated[
        bool,
        Meta(
            description="Show a suggestion while it takes shape: settled words as text, the rest "
            "as dots."
        ),
    ] = True
    sure_confidence: Annotated[
        float,
        Meta(ge=0, le=1),
        Meta(
            description="Below this confidence the model counts as unsure of a token; accepting "
            "the sure part stops before it."
        ),
    ] = 0.7
    preview_edits: Annotated[
        bool, Meta(description="Show an inline edit as a diff before it is applied.")
    ] = True
    hole_marks: Annotated[
        tuple[_NotEmpty, ...],
        PER_FOLDER,
        Meta(
            description="Your own marks for holes when all are filled at once, in addition to "
            "each language's (`...`, `todo!()`, …)."
        ),
    ] = ()
    rewrite_noise: Annotated[
        float,
        Meta(gt=0, le=1),
        Meta(
            description="Share of a selection's tokens that a rewrite replaces, above 0 and up to "
            "1."
        ),
    ] = 0.4

    @property
    def of_engine(self) -> dict[str, Any]:
        """The options that an engine is started with, where they are not its own choice."""
        chosen = {"device": self.device, "quantize": self.quantize}
        return {name: value for name, value in chosen.items() if value != "auto"}


OPTIONS: Mapping[str, msgspec.structs.FieldInfo] = {
    field.encode_name: field for field in msgspec.structs.fields(Settings)
}
"""The settings by the key that clients send."""

LANGUAGE_OPTIONS = frozenset(
    key for key, option in OPTIONS.items() if PER_LANGUAGE in get_args(option.type)
)
"""The settings that a language may have for itself."""

FOLDER_OPTIONS = LANGUAGE_OPTIONS | {
    key for key, option in OPTIONS.items() if PER_FOLDER in get_args(option.type)
}
"""The settings that a folder may have for itself."""
