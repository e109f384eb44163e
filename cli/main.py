"""The program ``intarsia``: where it begins, and what it leaves out of Python's search path.

Python searches the working folder where PYTHONPATH has an empty element, as after
``export PYTHONPATH=$PYTHONPATH:/x``. An opened folder is data: none of its files is imported.
"""

import os
import site
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process."""
    leave_out_working_folder()
    from intarsia.cli.command_table import cli  # only now: it imports more than Python's own

    cli.main()


def leave_out_working_folder() -> None:
    """Import nothing from the working folder, and have no process that we start do so."""
    sys.path[:] = [path for path in sys.path if not _is_working_folder(path)]
    if "PYTHONPATH" in os.environ:
        parts = os.environ["PYTHONPATH"].split(os.pathsep)
        kept = [path for path in parts if Path(path).is_absolute() and not _is_working_folder(path)]
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)


def _is_working_folder(path: str) -> bool:
    """Whether a part of the search path is the working folder, and no folder of Python's own."""
    try:
        here = Path.cwd().resolve()
    except OSError:  # it was deleted
        return not Path(path).is_absolute()
    own = (*site.getsitepackages(), site.getusersitepackages(), str(Path(os.__file__).parent))
    return _real(path) == here and here not in map(_real, own)


def _real(path: str) -> Path | None:
    """Return the path without links, None for a loop of links."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError):
        return None
