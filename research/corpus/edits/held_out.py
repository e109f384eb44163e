"""Keeps the repositories that edits are evaluated on out of the training data."""

from functools import cache
from importlib import resources

from intarsia_research.errors import CorpusFault


def require_not_held_out(repo: str) -> None:
    """Raise CorpusFault if ``owner/name`` is held out, or has the name of one that is: a fork."""
    names = {name.rpartition("/")[2] for name in held_out_repositories()}
    if repo.lower().rpartition("/")[2] in names:
        raise CorpusFault(
            f"{repo} is kept for evaluation, or is a fork of such a repository: leave it out"
        )


@cache
def held_out_repositories() -> frozenset[str]:
    """Return the ``owner/name`` of each, in lower case."""
    table = resources.files("intarsia_research.corpus.edits").joinpath("held_out.txt")
    lines = (line.partition("#")[0].strip() for line in table.read_text("utf-8").splitlines())
    return frozenset(line.lower() for line in lines if line)
