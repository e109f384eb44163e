"""The index of a package, made in this process: a slow parser process would hold up a run."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.index.store import with_passages
from intarsia.workspace.symbols.extract import extract_symbols


@contextmanager
def indexed_package(root: Path) -> Iterator[ProjectIndex]:
    """Yield the index of a folder. Its database is in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="intarsia-index-") as folder:
        index = ProjectIndex(Path(folder))
        try:
            index.open_roots([RootSettings(path=root.as_posix(), exclude_secrets=False)])
            bring_up_to_date(index)
            yield index
        finally:
            index.close()


def bring_up_to_date(index: ProjectIndex) -> None:
    """Index all that has changed."""
    while index.is_walking or index.num_queued:
        while index.walk_step():
            pass
        job = index.next_job()
        if job is not None:
            symbols = extract_symbols(job.text, job.language)
            job.root.finished(job, with_passages(job.text, symbols), "")
    index.settle(is_idle=True)
