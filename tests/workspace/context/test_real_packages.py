"""Places in real packages: what is chosen for the code that its authors wrote there."""

from functools import cache
from pathlib import Path

import click
import pytest
from checkout import ROOT
from memory_index import MemoryIndex, index_of_folder

from intarsia.infill.languages import language_for_path
from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import Chunk
from intarsia.workspace.context.options import ChunkOptions
from intarsia.workspace.context.place import Place
from intarsia.workspace.context.stability import num_chars

CLICK = Path(click.__file__).parent
VSCODE = ROOT / "editors" / "vscode" / "src"


@cache
def index_of(folder: Path) -> MemoryIndex:
    return index_of_folder(folder, ["*.py", "*.ts"])


def chunks_at(folder: Path, name: str, before: str) -> tuple[Chunk, ...]:
    """Cut the rest of the line after ``before``, and choose chunks for that hole."""
    path = (folder / name).as_posix()
    text = (folder / name).read_text(encoding="utf-8")
    offset = text.index(before) + len(before)
    whole = text[:offset] + text[text.index("\n", offset) :]
    place = Place(
        path=path,
        text=whole,
        language=language_for_path(path),
        offset=offset,
        window_start=max(0, offset - 1_600),
        window_end=offset + 480,
    )
    chunks = choose_chunks(index_of(folder), place, ChunkOptions())
    assert num_chars(chunks) <= ChunkOptions().budget_chars
    assert name not in [one.path for one in chunks]
    return chunks


def lines_of(chunks: tuple[Chunk, ...], path: str) -> list[str]:
    """Return the lines of a file's stub."""
    found = [one for one in chunks if one.path == path and one.kind in ("signatures", "members")]
    assert len(found) == 1, [(one.path, one.kind) for one in chunks]
    return found[0].text.split("\n")


@pytest.mark.parametrize(
    ("name", "before", "path", "expected"),
    [
        (
            "exceptions.py",
            "command=self.ctx.",
            "core.py",
            ["class Context:", "    def command_path(self) -> str: ..."],
        ),
        (
            "exceptions.py",
            'echo(f"{self.ctx.',
            "core.py",
            ["class Context:", "    def get_usage(self) -> str: ..."],
        ),
        (
            "decorators.py",
            "param_memo(f, cls(",
            "core.py",
            ["class Option(Parameter):"],
        ),
        (
            "formatting.py",
            "term_len(",
            "_compat.py",
            ["def term_len(x: str) -> int: ..."],
        ),
    ],
)
def test_click(name: str, before: str, path: str, expected: list[str]) -> None:
    lines = lines_of(chunks_at(CLICK, name, before), path)
    assert [line for line in expected if line not in lines] == [], lines


@pytest.mark.parametrize(
    ("name", "before", "path", "expected"),
    [
        (
            "statusItem.ts",
            "isWarning } = ",
            "statusText.ts",
            ["function statusText(state: SessionState, pausedMinutes: number): StatusText;"],
        ),
        (
            "setup/install.ts",
            "await markComplete(",
            "serverLocators/privateEnvironment.ts",
            ["async function markComplete(folder: string, bundle: Bundle): Promise<void>;"],
        ),
        (
            "setup/install.ts",
            "throw new ",
            "setup/setupError.ts",
            ["class SetupError extends Error {}", "class SetupCancelled extends Error {}"],
        ),
    ],
)
def test_our_extension_for_vs_code(name: str, before: str, path: str, expected: list[str]) -> None:
    lines = lines_of(chunks_at(VSCODE, name, before), path)
    assert [line for line in expected if line not in lines] == [], lines


def test_the_receiver_s_type_is_read_last_in_real_code() -> None:
    last = chunks_at(CLICK, "exceptions.py", "command=self.ctx.")[-1]
    assert (last.path, last.kind) == ("core.py", "members")
