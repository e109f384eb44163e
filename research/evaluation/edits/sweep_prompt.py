"""The prompt of Sweep's next-edit models, which write the lines around a cursor again.

Its form is published in the package sweep-autocomplete 0.1.1 (Apache-2.0), without a cursor mark,
which other models would copy into their answer. Pure functions on text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.next_edit.settled_edit import Hunk

LINES_ABOVE = 2
LINES_BELOW = 5
"""Lines around the cursor that are written again, as in Sweep's own client."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Lines of the present text that are written again, from line ``start`` on."""

    start: int
    lines: Sequence[str]


def block_around(line: int, lines: Sequence[str], changed: Sequence[Hunk]) -> Block:
    """Return the block around a line of the present text, without what was changed in it so far.

    So the model cannot offer to undo the user's edit.
    """
    start, end = max(0, line - LINES_ABOVE), min(len(lines), line + LINES_BELOW + 1)
    for hunk in changed:
        if hunk.new_end <= line:
            start = max(start, hunk.new_end)
        else:
            end = min(end, max(hunk.new_start, start))
    return Block(start=start, lines=lines[start:end])


def sweep_prompt(path: str, file_before: str, edit: Hunk, block: Block) -> Sequence[str]:
    """Return the texts of the prompt, which each follow a mark of a new file.

    After them the model writes the block, and such a mark. ``file_before`` is the file as it was,
    or the part of it that there is room for.
    """
    where = f"{path}:{block.start + 1}:{block.start + len(block.lines)}"
    edited = f"{path}:{edit.new_start + 1}:{edit.new_end}"
    now = _ended("".join(block.lines))
    return [
        f"{path}\n{_ended(file_before)}",
        f"{edited}\noriginal:\n{_ended(''.join(edit.old_lines))}"
        f"updated:\n{_ended(''.join(edit.new_lines))}",
        f"original/{where}\n{now}",
        f"current/{where}\n{now}",
        f"updated/{where}\n",
    ]


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
