"""The options of ``eval``, and what they ask for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from intarsia.cli.baselines import (
    BaselineName,
    against_option,
    each_once,
    llama_server_option,
)
from intarsia.cli.options import absolute_model, candidates_option
from intarsia.engine.ipc.messages import Decoding
from intarsia.research.evaluation.case import CaseKind

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A run as it was asked for: the fields are the options' names."""

    sets: Sequence[str]
    repositories: Sequence[Path]
    languages: Sequence[str]
    kinds: Sequence[CaseKind]
    limit: int | None
    seed: int
    humaneval: Path | None
    modes: Sequence[Decoding]
    peers: Sequence[BaselineName]
    llama_server: Path | None
    is_direct: bool
    is_invoked: bool
    model: str | None
    num_candidates: int
    is_executed: bool | None

    def as_settings(self) -> dict[str, Any]:
        """Return what was set, for the record."""
        told = {
            "set": list(self.sets),
            "repo": [str(path) for path in self.repositories],
            "lang": list(self.languages),
            "kind": list(self.kinds),
            "limit": self.limit,
            "seed": self.seed,
            "decoding": list(self.modes),
            "against": list(self.peers),
            "direct": self.is_direct,
            "invoked": self.is_invoked,
            "model": self.model,
            "candidates": self.num_candidates,
            "exec": self.is_executed,
        }
        return {name: value for name, value in told.items() if value not in (None, [], False)}


def eval_options(command: _F) -> _F:
    """Add the options whose names are the fields of Asked."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)

_OPTIONS = (
    click.option(
        "--set",
        "sets",
        metavar="NAME",
        multiple=True,
        callback=each_once,
        help="builtin, single-line, random-span-light, or a FILE.jsonl.gz of HumanEval Infilling; "
        "repeatable.  [default: builtin, where no --repo is given]",
    ),
    click.option(
        "--repo",
        "repositories",
        metavar="PATH",
        multiple=True,
        callback=each_once,
        type=click.Path(path_type=Path, exists=True),
        help="Cut holes into these source files, or those below this folder; repeatable.",
    ),
    click.option(
        "--lang",
        "languages",
        metavar="ID",
        multiple=True,
        callback=each_once,
        help="Only holes of this language (python, typescript, …); repeatable.",
    ),
    click.option(
        "--kind",
        "kinds",
        type=click.Choice(get_args(CaseKind)),
        multiple=True,
        callback=each_once,
        help="Only holes of this kind; repeatable.",
    ),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        help="So many holes of each set at most.  [default: all; with --repo, 300]",
    ),
    click.option(
        "--seed", type=int, default=7, show_default=True, help="Chooses and orders the holes."
    ),
    click.option(
        "--humaneval",
        metavar="FOLDER",
        type=_FOLDER,
        envvar="INTARSIA_HUMANEVAL",
        help="Where the benchmark's files lie.  [env: INTARSIA_HUMANEVAL]",
    ),
    click.option(
        "--decoding",
        "modes",
        type=click.Choice(get_args(Decoding)),
        multiple=True,
        default=("speculative",),
        show_default=True,
        callback=each_once,
        help="A way to decode; repeatable: the others are compared with the first.",
    ),
    candidates_option,
    against_option,
    llama_server_option,
    click.option(
        "--direct",
        "is_direct",
        is_flag=True,
        help="Ask the engine without a language server between: the same text, sooner.",
    ),
    click.option(
        "--invoked",
        "is_invoked",
        is_flag=True,
        help="Ask as if by a key, for several candidates; the first one counts.",
    ),
    click.option(
        "--model",
        callback=absolute_model,
        help="A name of the catalog, a folder, or a hub id; else the one that is loaded.",
    ),
    click.option(
        "--exec/--no-exec",
        "is_executed",
        default=None,
        help="Run the tests of filled programs even without a sandbox, or never.  "
        "[default: in a sandbox, where there is one]",
    ),
)
