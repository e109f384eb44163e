"""Files of a corpus, made in a test."""

import hashlib

from repository_files import functions

from intarsia_research.corpus.corpus_file import CorpusFile

__all__ = ["corpus_file", "functions"]


def corpus_file(
    text: str, *, path: str = "src/a.py", language: str = "python", package: str = "small"
) -> CorpusFile:
    """Return a file with this text."""
    return CorpusFile(
        ecosystem="pypi",
        package=package,
        version="1.0",
        licence="MIT",
        language=language,
        path=path,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )
