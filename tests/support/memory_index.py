"""The product's index over a few texts, as if an editor had them open: no file is on disk."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.index.store import with_passages
from intarsia.workspace.symbols.extract import extract_symbols


def memory_index(texts: Mapping[str, str], roots: Sequence[str]) -> ProjectIndex:
    """Return an index of texts by their absolute paths."""
    with tempfile.TemporaryDirectory() as folder:
        index = ProjectIndex(Path(folder))
        index.open_roots(RootSettings(path=root) for root in roots)
        for path, text in texts.items():
            index.open_text(path, text)
        while index.num_queued:
            if (job := index.next_job()) is not None:
                symbols = extract_symbols(job.text, job.language)
                job.root.finished(job, with_passages(job.text, symbols), "")
        return index
