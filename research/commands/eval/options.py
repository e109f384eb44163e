"""The options of ``eval``, and the request that they make."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from intarsia.cli.options import (
    absolute_model,
    candidates_option,
)
from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.canvas import Budget
from intarsia_research.commands.baselines import (
    BaselineName,
    against_option,
    each_once,
    llama_server_option,
)
from intarsia_research.commands.eval.context import CONTEXT_OPTIONS
from intarsia_research.commands.eval.window import window_name, window_option
from intarsia_research.evaluation.case import CaseKind

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseRequest:
    """Which holes to fill. The fields are the options' parameter names."""

    sets: Sequence[str] = ()
    repositories: Sequence[Path] = ()
    clones: Sequence[str] = ()
    documented: Sequence[Path] = ()
    languages: Sequence[str] = ()
    kinds: Sequence[CaseKind] = ()
    limit: int | None = None
    seed: int = 7
    humaneval: Path | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EvalRequest(CaseRequest):
    """Which holes to fill, with which systems."""

    decodings: Sequence[Decoding]
    windows: Sequence[Budget]
    contexts: Sequence[str]
    context_tokens: int | None
    baselines: Sequence[BaselineName]
    llama_server: Path | None
    is_direct: bool
    is_invoked: bool
    is_unasked_too: bool
    model: str | None
    num_candidates: int
    is_executed: bool | None

    def as_settings(self) -> dict[str, Any]:
        """Return the options that were set, by option name, for the run's record."""
        settings = {
            "set": list(self.sets),
            "repo": [str(path) for path in self.repositories],
            "commits": list(self.clones),
            "doctests": [str(path) for path in self.documented],
            "lang": list(self.languages),
            "kind": list(self.kinds),
            "limit": self.limit,
            "seed": self.seed,
            "decoding": list(self.decodings),
            "window": [window_name(budget) for budget in self.windows],
            "context": list(self.contexts),
            "context-tokens": self.context_tokens,
            "against": list(self.baselines),
            "direct": self.is_direct,
            "invoked": self.is_invoked,
            "unasked": self.is_unasked_too,
            "model": self.model,
            "candidates": self.num_candidates,
            "exec": self.is_executed,
        }
        return {name: value for name, value in settings.items() if value not in (None, [], False)}


def eval_options(command: _F) -> _F:
    """Add the options; their parameter names are the fields of EvalRequest."""
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
        help="builtin, project, members, single-line, random-span-light, bodies, a FILE.jsonl.gz "
        "of HumanEval Infilling or SAFIM, or typing or typing-held-out (files are retyped); "
        "repeatable.  "
        "[default: builtin, without --repo, --commits and --doctests]",
    ),
    click.option(
        "--repo",
        "repositories",
        metavar="PATH",
        multiple=True,
        callback=each_once,
        type=click.Path(path_type=Path, exists=True),
        help="Cut holes into this source file, or into those below this folder; repeatable.",
    ),
    click.option(
        "--commits",
        "clones",
        metavar="CLONE[@REVISION]",
        multiple=True,
        callback=each_once,
        help="Cut holes into lines that the newest commits of this git repository added; what they "
        "changed in other files are the user's last edits; repeatable.",
    ),
    click.option(
        "--doctests",
        "documented",
        metavar="PATH",
        multiple=True,
        callback=each_once,
        type=click.Path(path_type=Path, exists=True),
        help="Fill the bodies of this Python file's functions, or of those below this folder, that "
        "have examples in their docstrings, which judge them; repeatable.",
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
        metavar="N",
        type=click.IntRange(min=1),
        help="At most N holes of each set.  [default: all; with --repo and --commits, 300]",
    ),
    click.option(
        "--seed",
        type=int,
        default=7,
        help="Seed that chooses and orders the holes.",
    ),
    click.option(
        "--humaneval",
        metavar="FOLDER",
        type=_FOLDER,
        envvar="INTARSIA_HUMANEVAL",
        help="The folder of the benchmark's files.  [env: INTARSIA_HUMANEVAL]",
    ),
    click.option(
        "--decoding",
        "decodings",
        type=click.Choice(get_args(Decoding)),
        multiple=True,
        default=("speculative",),
        callback=each_once,
        help="How to decode; repeatable: the others are compared with the first.",
    ),
    window_option,
    *CONTEXT_OPTIONS,
    candidates_option,
    against_option,
    llama_server_option,
    click.option(
        "--direct",
        "is_direct",
        is_flag=True,
        help="Ask the engine directly, without a language server: the same text, faster.",
    ),
    click.option(
        "--invoked",
        "is_invoked",
        is_flag=True,
        help="Ask as an editor does on a key press, for several candidates; the first one counts.",
    ),
    click.option(
        "--unasked",
        "is_unasked_too",
        is_flag=True,
        help="Also fill without asking for the bodies of documented functions; with --direct.",
    ),
    click.option(
        "--model",
        callback=absolute_model,
        help="A catalog name, a folder or a hub id.  [default: the loaded model]",
    ),
    click.option(
        "--exec/--no-exec",
        "is_executed",
        default=None,
        help="Run the tests of filled programs even without a sandbox, or never.  "
        "[default: only in a sandbox]",
    ),
)
