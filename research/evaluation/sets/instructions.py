"""Small instructions with hidden tests, half of them held out (``instructions.toml``)."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from intarsia.infill.filling.outcome import Selection

Split = Literal["dev", "held_out"]
_FILE = Path(__file__).with_suffix(".toml")
_BEGIN, _END = "⟦", "⟧"


@dataclass(frozen=True, kw_only=True, slots=True)
class InstructionCase:
    """One selection in a Python file, what is to be done with it, and a test of the result.

    ``answer`` is one right edit of the selection.
    """

    name: str
    split: Split
    instruction: str
    text: str
    selection: Selection
    answer: str
    test: str

    def program(self, edited: str) -> str:
        """Return the edited file with its test, which sees the file's text as SOURCE."""
        return f"{edited}\nSOURCE = {edited!r}\n{self.test}"


def instruction_cases(split: Split | None = None) -> list[InstructionCase]:
    """Return the cases of a split, None: of both."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["case"]
    return [_case(row) for row in rows if split in (None, row["split"])]


def _case(row: dict[str, str]) -> InstructionCase:
    before, rest = row.pop("code").removeprefix("\n").split(_BEGIN)
    selected, after = rest.split(_END)
    start = len(before)
    return InstructionCase(
        text=before + selected + after,
        selection=Selection(start=start, end=start + len(selected)),
        answer=row.pop("answer").strip("\n"),
        **row,  # type: ignore[arg-type]  # a test reads them all
    )
