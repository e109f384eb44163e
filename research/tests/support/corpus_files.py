"""Files of a corpus, made in a test."""

import hashlib

from intarsia_research.corpus.corpus_file import CorpusFile


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


def functions(*names: str) -> str:
    """Return a Python file of functions whose words are different for different names."""
    return "\n\n".join(
        f"def {name}(first_{name}, second_{name}):\n"
        f'    """Return the {name} of both."""\n'
        f"    total_{name} = first_{name} + second_{name}\n"
        f"    for step_{name} in range(total_{name}):\n"
        f"        total_{name} -= step_{name} * second_{name}\n"
        f"    return total_{name}\n"
        for name in names
    )
