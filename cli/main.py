"""The program ``intarsia``: where it begins, and what it leaves out of Python's search path.

Python searches the working folder where PYTHONPATH has an empty element, as after
``export PYTHONPATH=$PYTHONPATH:/x``. An opened folder is data: none of its files is imported.
"""

import os
import site
import sys
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
        kept = [part for part in parts if os.path.isabs(part) and not _is_working_folder(part)]
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)


def _is_working_folder(path: str) -> bool:
    """Whether a part of the search path is the working folder, and no folder of Python's own."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109 it is compared as text
    except OSError:  # it was deleted
        return not os.path.isabs(path)
    own = (*site.getsitepackages(), site.getusersitepackages(), os.path.dirname(os.__file__))
    return os.path.realpath(path or here) == here and here not in map(os.path.realpath, own)
