"""From the names of sets to their cases."""

from collections.abc import Sequence
from pathlib import Path

from intarsia.cli.baselines import BaselineName, baseline_named
from intarsia.cli.errors import CliError
from intarsia.cli.eval.options import Asked
from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.filling.options import FillOptions
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.sets.builtin import builtin_cases
from intarsia.research.evaluation.sets.humaneval import read_humaneval
from intarsia.research.evaluation.sets.repository import repository_cases
from intarsia.research.evaluation.sets.request_kind import language_ids
from intarsia.research.evaluation.system import System
from intarsia.research.evaluation.systems.direct import Direct
from intarsia.research.evaluation.systems.language_server import LanguageServer


def contestants_of(asked: Asked) -> list[System]:
    """Return them in order: the first is what the others are compared with."""
    if asked.is_direct and asked.is_invoked:
        raise CliError("--invoked is for the language server: give it without --direct")
    own = [_own(mode, asked) for mode in asked.modes]
    return own + [contestant for peer in asked.peers for contestant in _peer(peer, asked)]


def _own(mode: Decoding, asked: Asked) -> System:
    options = FillOptions(decoding=mode, model=asked.model, num_candidates=asked.num_candidates)
    if asked.is_direct:
        return Direct(options)
    return LanguageServer(options, is_invoked=asked.is_invoked)


def _peer(name: BaselineName, asked: Asked) -> list[System]:
    """Return a peer's own text and its text cleaned by us, as two."""
    found = baseline_named(name, model=asked.model, llama_server=asked.llama_server)
    return [found.contestant(cleans=False), found.contestant(cleans=True)]


REPOSITORY_LIMIT = 300

HUMANEVAL_FILES = {
    "single-line": "HumanEval-SingleLineInfilling.jsonl.gz",
    "random-span-light": "HumanEval-RandomSpanInfillingLight.jsonl.gz",
}
HUMANEVAL_ADDRESS = "https://github.com/openai/human-eval-infilling/raw/master/data/"

_CHECKOUT_FOLDER = Path(__file__).parents[2] / "tests" / "data" / "human-eval-infilling"


def read_cases(asked: Asked) -> list[Case]:
    """Return the cases of all sets that are asked for. Raises CliError, EvaluationFault."""
    names = asked.sets or ([] if asked.repositories else ["builtin"])
    cases = [case for name in names for case in _set_cases(name, asked)]
    if asked.repositories:
        cases += _repository_cases(asked)
    if not cases:
        raise CliError("no hole of these languages and kinds in these sets: ask for others")
    return cases


def _set_cases(name: str, asked: Asked) -> Sequence[Case]:
    if name == "builtin":
        return builtin_cases(
            languages=asked.languages or None,
            kinds=asked.kinds or None,
            limit=asked.limit,
            seed=asked.seed,
        )
    languages = language_ids(asked.languages)
    cases = read_humaneval(_humaneval_file(name, asked.humaneval), limit=None, seed=asked.seed)
    chosen = [
        case
        for case in cases
        if (not languages or case.language in languages)
        and (not asked.kinds or case.kind in asked.kinds)
    ]
    return chosen[: asked.limit]


def _repository_cases(asked: Asked) -> list[Case]:
    return repository_cases(
        asked.repositories,
        languages=asked.languages or None,
        kinds=asked.kinds or None,
        limit=asked.limit or REPOSITORY_LIMIT,
        seed=asked.seed,
    )


def _humaneval_file(name: str, folder: Path | None) -> Path:
    if name not in HUMANEVAL_FILES:
        path = Path(name)
        if not path.is_file():
            known = ", ".join(("builtin", *HUMANEVAL_FILES))
            raise CliError(f"no set and no file {name}: give one of {known}, or a file's path")
        return path
    file = (folder or _CHECKOUT_FOLDER) / HUMANEVAL_FILES[name]
    if not file.is_file():
        raise CliError(
            f"{file} is not there: fetch it from {HUMANEVAL_ADDRESS}{file.name} and name its "
            "folder by --humaneval or INTARSIA_HUMANEVAL"
        )
    return file
