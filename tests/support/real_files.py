"""Real files of eleven languages, which the evaluation measures with, read from their archive."""

import zipfile
from pathlib import PurePosixPath

from checkout import ROOT

_ARCHIVE = ROOT / "research" / "evaluation" / "sets" / "builtin_files" / "files.zip"


def _read() -> dict[PurePosixPath, str]:
    with zipfile.ZipFile(_ARCHIVE) as packed:
        names = sorted(map(PurePosixPath, packed.namelist()))
        return {name: packed.read(str(name)).decode("utf-8") for name in names}


REAL_FILES = _read()
"""The texts by path: ``language/package/name``, in the order of the paths."""
