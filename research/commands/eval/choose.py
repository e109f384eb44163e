"""What a request of ``eval`` selects: its systems, its cases and its sandbox."""

import random
from collections.abc import Sequence
from pathlib import Path

from intarsia.cli.errors import CliError
from intarsia.cli.terminal import notices
from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import FillOptions
from intarsia_research.commands.baselines import BaselineName, baseline_named
from intarsia_research.commands.eval.context import NO_CONTEXT, chunk_options, gives_names
from intarsia_research.commands.eval.options import CaseRequest, EvalRequest
from intarsia_research.commands.eval.window import window_name
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.bodies import body_cases, doctest_cases
from intarsia_research.evaluation.sets.builtin import builtin_cases
from intarsia_research.evaluation.sets.commits import CommitSource, commit_cases
from intarsia_research.evaluation.sets.cut_case import language_ids
from intarsia_research.evaluation.sets.package_cases import PACKAGE_SETS, package_cases
from intarsia_research.evaluation.sets.problem_file import read_problems
from intarsia_research.evaluation.sets.project_packages import PackageSource
from intarsia_research.evaluation.sets.repository import repository_cases
from intarsia_research.evaluation.system import System
from intarsia_research.evaluation.systems.direct import Direct
from intarsia_research.evaluation.systems.language_server import LanguageServer
from intarsia_research.evaluation.systems.project_context import WithContext
from intarsia_research.holes.cut_project import CutProjects
from intarsia_research.sandbox.execute import Sandbox, find_sandbox


def systems_of(request: EvalRequest) -> list[System]:
    """Return the systems in order. The others are compared with the first."""
    if request.is_direct and request.is_invoked:
        raise CliError("--invoked is for the language server: give it without --direct")
    if {*request.contexts} - {NO_CONTEXT, "all"} and not request.is_direct:
        raise CliError("the server reads all kinds of code or none: give --context with --direct")
    projects = CutProjects()
    own = [
        _own(decoding, budget, context, projects, request)
        for decoding in request.decodings
        for budget in request.windows or (Budget(),)
        for context in request.contexts or (NO_CONTEXT,)
    ]
    if request.is_unasked_too:
        if not request.is_direct:
            raise CliError("the server asks wherever it can: give --unasked with --direct")
        options = FillOptions(model=request.model, num_candidates=request.num_candidates)
        own.append(Direct(options, name="unasked", may_ask=False))
    return own + [
        system for baseline in request.baselines for system in _baseline(baseline, request)
    ]


def _own(
    decoding: Decoding,
    budget: Budget,
    context: str,
    projects: CutProjects,
    request: EvalRequest,
) -> System:
    options = FillOptions(
        decoding=decoding,
        model=request.model,
        num_candidates=request.num_candidates,
        budget=budget,
    )
    name: str = decoding
    name += f" {window_name(budget)}" if request.windows else ""
    name += f" {context}" if request.contexts else ""
    if request.is_direct:
        asked = chunk_options(context, request.context_tokens)
        chosen = (
            WithContext(projects=projects, options=asked, gives_names=gives_names(context))
            if asked
            else None
        )
        return Direct(options, name=name, context=chosen)
    reads_project = context != NO_CONTEXT
    return LanguageServer(
        options, name=name, is_invoked=request.is_invoked, reads_project=reads_project
    )


def _baseline(name: BaselineName, request: EvalRequest) -> list[System]:
    """Return two systems: a baseline's own text, and that text cleaned by us."""
    baseline = baseline_named(name, model=request.model, llama_server=request.llama_server)
    return [baseline.system(cleans=False), baseline.system(cleans=True)]


def choose_sandbox(cases: Sequence[Case], *, is_executed: bool | None) -> Sandbox | None:
    """Return the sandbox for tests, or None if no test is to be run; print why not.

    Without isolation, tests run only with ``is_executed``. Raise EvaluationFault if tests were
    asked for and cannot be run.
    """
    if is_executed is False or not any(case.is_tested for case in cases):
        return None
    try:
        sandbox = find_sandbox()
    except EvaluationFault as fault:
        if is_executed:
            raise
        notices().print(f"the tests are not run: {fault}")
        return None
    if sandbox.is_isolated:
        return sandbox
    if not is_executed:
        notices().print(
            "the tests are not run: there is no sandbox for code written by a model. Install "
            "bubblewrap (`bwrap`), or allow them your rights with --exec"
        )
        return None
    notices().print(f"warning: {sandbox.warning}")
    return sandbox


REPOSITORY_LIMIT = 300

HUMANEVAL_FILES = {
    "single-line": "HumanEval-SingleLineInfilling.jsonl.gz",
    "random-span-light": "HumanEval-RandomSpanInfillingLight.jsonl.gz",
}
HUMANEVAL_ADDRESS = "https://github.com/openai/human-eval-infilling/raw/master/data/"

_CHECKOUT_FOLDER = Path(__file__).parents[3] / "tests" / "data" / "human-eval-infilling"


def read_cases(request: CaseRequest) -> list[Case]:
    """Return the cases of all requested sets. Raise CliError or EvaluationFault."""
    others = request.repositories or request.clones or request.documented
    names = request.sets or ([] if others else ["builtin"])
    cases = [case for name in names for case in _set_cases(name, request)]
    if request.repositories:
        cases += _repository_cases(request)
    for clone in request.clones:
        cases += _commit_cases(clone, request)
    if request.documented:
        cases += doctest_cases(request.documented, limit=request.limit, seed=request.seed)
    if not cases:
        raise CliError("no hole of these languages and kinds in these sets: choose others")
    return cases


def _set_cases(name: str, request: CaseRequest) -> Sequence[Case]:
    if name in PACKAGE_SETS:
        return package_cases(
            PACKAGE_SETS[name],
            PackageSource(cache=cache_folder() / "evaluation"),
            languages=request.languages or None,
            kinds=request.kinds or None,
            limit=request.limit,
            seed=request.seed,
        )
    if name == "builtin":
        return builtin_cases(
            languages=request.languages or None,
            kinds=request.kinds or None,
            limit=request.limit,
            seed=request.seed,
        )
    languages = language_ids(request.languages)
    if name == "bodies":
        cases = body_cases(_problem_file("single-line", request.humaneval))
        random.Random(request.seed).shuffle(cases)
    else:
        cases = read_problems(_problem_file(name, request.humaneval), limit=None, seed=request.seed)
    chosen = [
        case
        for case in cases
        if (not languages or case.language in languages)
        and (not request.kinds or case.kind in request.kinds)
    ]
    return chosen[: request.limit]


def _repository_cases(request: CaseRequest) -> list[Case]:
    return repository_cases(
        request.repositories,
        languages=request.languages or None,
        kinds=request.kinds or None,
        limit=request.limit or REPOSITORY_LIMIT,
        seed=request.seed,
    )


def _commit_cases(clone: str, request: CaseRequest) -> list[Case]:
    path, at, revision = clone.rpartition("@")
    if not at or Path(clone).exists():
        path, revision = clone, "HEAD"
    if not Path(path).is_dir():
        raise CliError(f"{path} is no folder: give a git repository, such as ~/src/mine@HEAD")
    return commit_cases(
        CommitSource(repository=Path(path), cache=cache_folder() / "evaluation", revision=revision),
        languages=request.languages or None,
        kinds=request.kinds or None,
        limit=request.limit or REPOSITORY_LIMIT,
        seed=request.seed,
    )


def _problem_file(name: str, folder: Path | None) -> Path:
    if name not in HUMANEVAL_FILES:
        path = Path(name)
        if not path.is_file():
            known = ", ".join(("builtin", "project", "members", *HUMANEVAL_FILES, "bodies"))
            raise CliError(f"no set and no file {name}: give one of {known}, or the path of a file")
        return path
    file = (folder or _CHECKOUT_FOLDER) / HUMANEVAL_FILES[name]
    if not file.is_file():
        raise CliError(
            f"{file} does not exist: download it from {HUMANEVAL_ADDRESS}{file.name} and give its "
            "folder with --humaneval or INTARSIA_HUMANEVAL"
        )
    return file
