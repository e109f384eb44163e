"""The peer: Sweep's prompt, laid out and written by a plain backbone, at places found elsewhere."""

from collections.abc import Sequence

import pytest
from edit_runs import LINES, ScriptedFinder, edit_case, hunk

from intarsia.infill.next_edit.settled_edit import Hunk
from intarsia_research.evaluation.edits.edit_record import EditRow
from intarsia_research.evaluation.edits.finder import Found
from intarsia_research.evaluation.edits.run_edits import AskingWay, run_edits
from intarsia_research.evaluation.edits.sweep_finder import SweepFinder
from intarsia_research.evaluation.edits.sweep_prompt import Block, block_around, sweep_prompt

EDIT = Hunk(start=4, new_start=4, old_lines=("line 4\n",), new_lines=("new 4\n", "more\n"))
PRESENT = [*LINES[:4], "new 4\n", "more\n", *LINES[5:]]
CASE = edit_case(hunk(8, 1, "new 8"), hunk(11, 1, "new 11"))


@pytest.mark.parametrize(
    ("line", "start", "lines"),
    [
        (12, 10, LINES[9:17]),
        (7, 6, LINES[5:12]),  # not the edit above
        (2, 0, LINES[:4]),  # not the edit below
        (20, 18, LINES[17:]),
    ],
)
def test_a_block_has_the_lines_around_the_cursor(
    line: int, start: int, lines: Sequence[str]
) -> None:
    assert block_around(line, PRESENT, [EDIT]) == Block(start=start, lines=list(lines))


def test_the_prompt_has_the_file_the_edit_and_the_block_twice() -> None:
    block = Block(start=8, lines=["a\n", "b\n"])
    assert sweep_prompt("shop.py", "x\ny", EDIT, block) == [
        "shop.py\nx\ny\n",
        "shop.py:5:6\noriginal:\nline 4\nupdated:\nnew 4\nmore\n",
        "original/shop.py:9:10\na\nb\n",
        "current/shop.py:9:10\na\nb\n",
        "updated/shop.py:9:10\n",
    ]


class Writer:
    """Answers with a text, and records what it was asked."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.asked: list[tuple[Sequence[str], str]] = []

    def write(self, prompt: Sequence[str], draft: str) -> str | None:
        self.asked.append((prompt, draft))
        return self.text


async def row_of(writer: Writer, *, drop: float = 3.0) -> EditRow:
    places = ScriptedFinder(lambda _: Found(first_line=0, end_line=20, line=11, drop=drop))
    rows: list[EditRow] = []
    await run_edits(
        [CASE],
        SweepFinder(places, writer),
        way=AskingWay(),
        on_case=lambda *_: None,
        on_row=rows.append,
    )
    return rows[0]


async def test_all_that_the_block_changes_is_offered_the_nearest_first() -> None:
    block = [*LINES[9:17]]
    writer = Writer("".join(["odd\n", *block[1:2], "new 11\n", *block[3:]]))
    row = await row_of(writer)
    ((prompt, draft),) = writer.asked
    assert draft == "".join(block)
    assert prompt[0] == "shop.py\n" + "".join(LINES)
    assert [(it.first_line, it.new_text, it.is_exact) for it in row.first.places] == [
        (11, "new 11\n", True),
        (9, "odd\n", False),
    ]


@pytest.mark.parametrize("text", [None, "".join(LINES[9:17])])
async def test_nothing_is_offered_where_nothing_new_is_written(text: str | None) -> None:
    assert (await row_of(Writer(text))).first.places == ()


async def test_a_line_that_hardly_fell_is_not_written_again() -> None:
    writer = Writer("other\n")
    assert (await row_of(writer, drop=0.5)).first.places == ()
    assert writer.asked == []
