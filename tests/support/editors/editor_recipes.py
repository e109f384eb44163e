"""The recipes of docs/editors.md, as a user would follow them, and files to try them on."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from checkout import ROOT

from intarsia.engine.ipc.address import Address

GUIDE = ROOT / "docs" / "editors.md"
INTARSIA = str(Path(sys.executable).with_name("intarsia"))
# What `make test-editors` fetches where the machine's own packages are too old.
FETCHED = ROOT / "build" / "editors"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A file with the cursor between ``before`` and ``after``; what the engine's model writes."""

    before: str
    after: str
    fill: str


ADD = 'def add(left, right):\n    """Return the sum of left and right."""\n    return '
REST = "\n\n\nprint(add(1, 2))\n"
CASES = {
    "a rest of a line": Case(before=ADD, after=REST, fill="left + right"),
    "a half-typed word": Case(before=ADD + "le", after=REST, fill="ft + right"),
    "several lines": Case(
        before="def f(x):\n    ", after="\n\n\nf(1)\n", fill="if x:\n        return 1\n    return 2"
    ),
    "text that is not ASCII": Case(
        before='def f(x):\n    print("𝄞 ä 語"); return ', after="\n\n\nf(1)\n", fill='x + "é𝄞"'
    ),
}
SELECTED = Case(before=ADD, after=REST, fill="left + right")


def recipe(heading: str, language: str) -> str:
    """Return the first block of this language under this heading of the guide."""
    section = GUIDE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert found, f"no {language} under {heading}"
    return found[1]


def case_file(case: Case, folder: Path) -> Path:
    file = folder / "a.py"
    file.write_text(case.before + case.after)
    return file


def stands_filled(case: Case, file: Path) -> bool:
    try:
        return file.read_text() == case.before + case.fill + case.after
    except FileNotFoundError:  # Helix puts the old file away before it writes the new one
        return False


def surroundings(
    address: Address, home: Path, server: Sequence[str] | None = None
) -> dict[str, str]:
    """Return an environment with a home of its own, in which ``intarsia`` is the product's, or,
    for ``intarsia serve``, another server."""
    programs = home / "bin"
    programs.mkdir()
    program = programs / "intarsia"
    command = " ".join(map(shlex.quote, server)) if server else f'{shlex.quote(INTARSIA)} "$@"'
    program.write_text(f"#!/bin/sh\nexec {command}\n")
    program.chmod(0o755)
    return {
        **address.as_environment(),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "PATH": os.pathsep.join((str(programs), str(FETCHED / "bin"), os.environ["PATH"])),
    }


def program(*names: str) -> str:
    """Return the first of these programs that is installed; the test is skipped when none is."""
    path = os.pathsep.join((str(FETCHED / "bin"), os.environ["PATH"]))
    for name in names:
        if found := shutil.which(name, path=path):
            return found
    pytest.skip(f"{names[0]} is not installed (make test-editors says how)")
