"""Files of a corpus, made in a test."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from intarsia_research.corpus.corpus_file import CorpusFile
from intarsia_research.training.run import TrainingOptions


def training_options(corpus: Path, model: Path, **changes: Any) -> TrainingOptions:
    """Return the options of a few steps on a corpus of a few files."""
    options = TrainingOptions(
        what="tuning",
        corpus=corpus,
        model=str(model),
        start=None,
        tuning=None,
        minutes=None,
        tokens=1,
        rank=4,
        rate=1e-3,
        holes_per_pass=2,
        passes_per_step=2,
        holes_per_file=3,
        seed=1,
        strength=1.0,
    )
    return replace(options, **changes)


def corpus_file(
    text: str, *, path: str = "src/a.py", language: str = "python", package: str = "small"
) -> CorpusFile:
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
