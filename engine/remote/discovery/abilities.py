"""The abilities of each kind of server, in words, and what is lost against our engine."""

from collections.abc import Mapping
from dataclasses import dataclass

from intarsia.engine.remote.discovery.discover import System


@dataclass(frozen=True, kw_only=True, slots=True)
class Abilities:
    """Abilities and losses. A server that ``takes_text`` only has its tokenizer not checked."""

    can: tuple[str, ...]
    lost: tuple[str, ...]
    takes_text: bool = False


PRIVACY = "the people who run the server can read the code that is sent"

NOT_YET = (
    "intarsia cannot fill holes through this system yet: use llama.cpp, vLLM, NIM, SGLang, mlx-lm, "
    "Ollama or LM Studio"
)

_SHOWN = "text is shown while it is written, left to right"
_ENDS = "stop texts, open brackets and indentation end a hole as with our models"
_PROBABILITY = "probability of each token"
_AHEAD = "reading ahead in idle time"
_COMPARING = "comparing several answers with the code after the hole"
_NEXT_EDITS = "next edits, and rewriting of present text"

_LEFT_TO_RIGHT = (
    "drafts of the whole hole: the server writes one token a pass",
    _COMPARING,
    _NEXT_EDITS,
)
_BY_BLOCKS = (
    _SHOWN,
    _PROBABILITY,
    "half-typed words are continued (a regular expression holds the server to them)",
    "typing on rereads what its cache of blocks does not hold",
    _ENDS,
    _AHEAD,
)
_WITH_TEXT = (
    *_LEFT_TO_RIGHT,
    "half-typed words: nothing holds the server to them, it is asked again from after the word",
    "holes near a mark of the model, such as <|fim_middle|>: it would act",
    "the next likely answers: others are drawn at random",
    _AHEAD,
)

ABILITIES: Mapping[System, Abilities] = {
    "intarsia": Abilities(
        can=("all that our engine can on this machine: drafts, several answers, other files",),
        lost=("next edits",),
    ),
    "vLLM": Abilities(can=_BY_BLOCKS, lost=_LEFT_TO_RIGHT),
    "NIM": Abilities(
        can=_BY_BLOCKS,
        lost=(
            *_LEFT_TO_RIGHT,
            "it was never run with intarsia: this follows NVIDIA's documentation alone",
        ),
    ),
    "SGLang": Abilities(
        can=_BY_BLOCKS,
        lost=(
            *_LEFT_TO_RIGHT,
            "it was never run live with intarsia: only its own request code was",
        ),
    ),
    "MLX": Abilities(
        takes_text=True,
        can=(
            "text is shown eight tokens at a time",
            _ENDS,
            _PROBABILITY,
            "typing on rereads what it does not hold of the last prompts",
        ),
        lost=(*_WITH_TEXT, "cancelling within eight tokens, or while it reads"),
    ),
    "Ollama": Abilities(
        takes_text=True,
        can=(_SHOWN, _ENDS, f"{_PROBABILITY}, of Ollama 0.12.11 or newer"),
        lost=(
            *_WITH_TEXT,
            "it was never run with intarsia: this follows Ollama's documentation and source",
        ),
    ),
    "LM Studio": Abilities(
        takes_text=True,
        can=(_SHOWN, _ENDS),
        lost=(
            "the probability of each token",
            *_WITH_TEXT,
            "it was never run with intarsia: this follows LM Studio's documentation",
        ),
    ),
    "vLLM with DiffusionGemma": Abilities(
        can=(
            "the hole is written on one canvas between the code before and after it",
            "given text and the code after the hole are pinned",
            "the length of a hole is chosen by how well the code after it then fits",
            _PROBABILITY,
            "several answers on request, from other noise",
            _ENDS,
            _AHEAD,
        ),
        lost=(
            "drafts: the server sends a whole canvas when it is done",
            "temperature and seed: the server has its own",
            _COMPARING,
            _NEXT_EDITS,
        ),
    ),
    "llama.cpp": Abilities(
        can=(
            _SHOWN,
            _PROBABILITY,
            "half-typed words are continued (a grammar holds the server to them)",
            "typing on rereads one or two tokens",
            _ENDS,
            _AHEAD,
        ),
        lost=_LEFT_TO_RIGHT,
    ),
}
"""Through a system without a row, intarsia cannot fill holes."""
