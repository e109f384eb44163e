"""Uses of a renamed declaration in other files: all that are sure, and nothing else.

In uses.toml ¹ follows each name that the rename changes, ² an imported name that is kept as an
alias, ³ a shorthand; the first mark is the declaration. Its own file is left to ``uses.py``.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from inline_parser import InlineParser

from intarsia.infill.replacement import with_replaced
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.imports.uses import uses_in_files
from intarsia.workspace.index.indexer import OwnIndex

CASES = tomllib.loads(Path(__file__).with_name("uses.toml").read_text(encoding="utf-8"))


def plain(drawing: str) -> str:
    return re.sub("[¹²³]", "", drawing)


def renamed_files(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that the rename of the first mark's name changes."""
    first, drawing = next(it for it in files.items() if "¹" in it[1])
    head = drawing.partition("¹")[0]
    name = head[len(head.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")) :]
    root = folder / "p"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(plain(text))
    settings = [RootSettings(path=str(root))]
    with OwnIndex(settings, folder / "databases", lambda on: InlineParser(on, [])) as own:
        assert own.update()
        at = len(head) - len(name)
        path = (root / first).as_posix()
        found = uses_in_files(own.index, path, plain(drawing), at, "renamed")
    inside = {Path(it.path).relative_to(root).as_posix(): it for it in found}
    assert {path: it.text for path, it in inside.items()} == {it: plain(files[it]) for it in inside}
    return {path: with_replaced(it.text, it.replacements) for path, it in inside.items()}


@pytest.mark.parametrize("name", CASES)
def test_all_sure_uses_are_found_and_no_others(name: str, tmp_path: Path) -> None:
    files = CASES[name]
    declared, drawing = next(it for it in files.items() if "¹" in it[1])
    head = drawing.partition("¹")[0]
    old = head[len(head.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")) :]
    forms = {"¹": "renamed", "²": f"renamed as {old}", "³": f"{old}: renamed"}
    expected = {
        path: re.sub(rf"{old}([¹²³])", lambda it: forms[it[1]], text)
        for path, text in files.items()
        if path != declared and plain(text) != text
    }
    assert renamed_files(tmp_path, files) == expected
