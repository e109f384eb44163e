"""Chooses the cases of a set that are asked: some repositories, some languages, a drawn number."""

import random
from collections.abc import Collection, Sequence

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.edit_case import EditCase


def choose_cases(
    cases: Sequence[EditCase],
    *,
    repositories: Sequence[str] = (),
    languages: Collection[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> list[EditCase]:
    """Return the chosen cases in the order of the set; empty sequences choose all.

    The seed draws which are left out if there are more than ``limit``. Raise EvaluationFault if
    none is left.
    """
    known = {case.repo.lower() for case in cases}
    for repo in repositories:
        if repo.lower() not in known:
            raise EvaluationFault(
                f"no case of {repo} in this set: it has {', '.join(sorted(known))}"
            )
    wanted = {repo.lower() for repo in repositories}
    chosen = [
        case
        for case in cases
        if (not wanted or case.repo.lower() in wanted)
        and (not languages or case.language in languages)
    ]
    if not chosen:
        raise EvaluationFault("no case of these languages in this set: choose others")
    if limit is None or limit >= len(chosen):
        return chosen
    drawn = random.Random(seed).sample(range(len(chosen)), limit)
    return [chosen[index] for index in sorted(drawn)]
