"""What each kind of server can do for intarsia, in words, and what is lost against our engine."""

from collections.abc import Mapping
from dataclasses import dataclass

from intarsia.engine.remote.discovery.discover import System


@dataclass(frozen=True, kw_only=True, slots=True)
class Abilities:
    """What is possible and what is lost. ``can_fill``: intarsia fills holes through it."""

    can_fill: bool
    can: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


PRIVACY = "the people who run the server can read the code that is sent"

NOT_YET = "intarsia cannot fill holes through this system yet: use llama.cpp or vLLM"

ABILITIES: Mapping[System, Abilities] = {
    "intarsia": Abilities(
        can_fill=True,
        can=("all that our engine can on this machine: drafts, several answers, other files",),
        lost=(
            "next edits",
            "contexts on disk: after the engine's restart all is read again",
        ),
    ),
    "vLLM": Abilities(
        can_fill=True,
        can=(
            "text is shown while it is written, left to right",
            "probability of each token",
            "half-typed words are continued (a regular expression holds the server to them)",
            "typing on rereads what its cache of blocks does not hold",
            "stop texts, open brackets and indentation end a hole as with our models",
            "reading ahead in idle time",
        ),
        lost=(
            "drafts of the whole hole: the server writes one token a pass",
            "comparing several answers with the code after the hole",
            "next edits, and rewriting of present text",
        ),
    ),
    "vLLM with DiffusionGemma": Abilities(
        can_fill=True,
        can=(
            "the hole is written on one canvas between the code before and after it",
            "given text and the code after the hole are pinned",
            "the length of a hole is chosen by how well the code after it then fits",
            "probability of each token",
            "several answers on request, from other noise",
            "stop texts, open brackets and indentation end a hole as with our models",
            "reading ahead in idle time",
        ),
        lost=(
            "drafts: the server sends a whole canvas when it is done",
            "temperature and seed: the server has its own",
            "comparing several answers with the code after the hole",
            "next edits, and rewriting of present text",
        ),
    ),
    "llama.cpp": Abilities(
        can_fill=True,
        can=(
            "text is shown while it is written, left to right",
            "probability of each token",
            "half-typed words are continued (a grammar holds the server to them)",
            "typing on rereads one or two tokens",
            "stop texts, open brackets and indentation end a hole as with our models",
            "reading ahead in idle time",
        ),
        lost=(
            "drafts of the whole hole: the server writes one token a pass",
            "comparing several answers with the code after the hole",
            "next edits, and rewriting of present text",
            "contexts on disk: after the server's restart all is read again",
        ),
    ),
}


def abilities_of(system: System) -> Abilities:
    """Return what a kind of server can do."""
    return ABILITIES.get(system, Abilities(can_fill=False))
