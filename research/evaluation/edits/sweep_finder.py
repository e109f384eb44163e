"""A peer for comparison: our engine finds a place, a plain backbone corrects it by Sweep's prompt.

Sweep's models write the lines around the cursor again and leave it to the user to go there. So the
peer is given the likeliest place as its cursor. All that it changes there is offered.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Protocol

from intarsia.infill.next_edit.settled_edit import Hunk, hunks_between, settled_edit
from intarsia_research.edits.edit_case import lines_of
from intarsia_research.evaluation.edits.finder import (
    Finder,
    FinderSystem,
    Found,
    FoundPlace,
    Question,
)
from intarsia_research.evaluation.edits.still_open import Replacement
from intarsia_research.evaluation.edits.sweep_prompt import Block, block_around, sweep_prompt
from intarsia_research.evaluation.record import SystemInfo

_MIN_DROP = 1.0  # nats, which our engine asks of a line too

_FILE_CHARS = 1_900
"""Of the file above the cursor, and as many below it: as much as our engine is shown."""


class BlockWriter(Protocol):
    """Something that writes lines again after a prompt."""

    def write(self, prompt: Sequence[str], draft: str) -> str | None:
        """Return the new lines, None if they do not come to an end.

        ``prompt``: texts that each follow a mark of a new file. ``draft``: the present lines.
        """
        ...


class SweepFinderSystem:
    """``places`` finds the lines, and corrects none; ``load`` loads what writes them again."""

    def __init__(self, places: FinderSystem, load: Callable[[], BlockWriter]) -> None:
        self._places = places
        self._load = load

    @asynccontextmanager
    async def ready(self) -> AsyncIterator["SweepFinder"]:
        """Load both. Raises EvaluationFault."""
        async with self._places.ready() as places:
            yield SweepFinder(places, await asyncio.to_thread(self._load))


class SweepFinder:
    """Asks for one place, and has the block around it written again."""

    def __init__(self, places: Finder, writer: BlockWriter) -> None:
        self.info = SystemInfo(
            name="Sweep's prompt",
            way="direct",
            model=places.info.model,
            details={"places": places.info.name, "weights": "plain backbone, nothing tuned"},
        )
        self._places = places
        self._writer = writer

    async def prepare(self, question: Question) -> None:
        """Have the engine read the text before the edit."""
        await self._places.prepare(question)

    async def find(self, question: Question) -> Found:
        """Answer a question; the times are those of the answer's writing alone."""
        found = await self._places.find(question)
        edit = settled_edit(question.before, question.edited)
        if found.line is None or found.drop < _MIN_DROP or not isinstance(edit, Hunk):
            return found
        old, new = lines_of(question.before), lines_of(question.present)
        block = block_around(found.line, new, hunks_between(old, new))
        prompt = sweep_prompt(
            question.path, _file_around(question.before, block.start), edit, block
        )
        draft = "".join(block.lines)
        started, cpu_s = time.perf_counter(), time.process_time()
        text = await asyncio.to_thread(self._writer.write, prompt, draft)
        return replace(
            found,
            places=() if text is None else tuple(_places(block, text, found)),
            ms=1000 * (time.perf_counter() - started),
            cpu_s=time.process_time() - cpu_s,
        )


def _file_around(text: str, line: int) -> str:
    """Return whole lines of the text around a line."""
    lines = lines_of(text)
    above = "".join(lines[:line])
    below = "".join(lines[line:])
    start = max(0, len(above) - _FILE_CHARS)
    start = above.find("\n", start) + 1 if start else 0
    end = below.rfind("\n", 0, _FILE_CHARS) + 1
    return above[start:] + below[:end]


def _places(block: Block, text: str, found: Found) -> Iterator[FoundPlace]:
    """Yield what the text changes in the block, the nearest to the place first."""
    assert found.line is not None
    new = lines_of(text if text.endswith("\n") or not text else text + "\n")
    changes = [
        Replacement(
            first_line=block.start + start,
            num_lines=end - start,
            text="".join(new[new_start:new_end]),
        )
        for tag, start, end, new_start, new_end in SequenceMatcher(
            None, block.lines, new, autojunk=False
        ).get_opcodes()
        if tag != "equal"
    ]
    line = found.line
    for change in sorted(changes, key=lambda it: _distance(it, line)):
        yield FoundPlace(
            change=change,
            drop=found.drop,
            gain=0.0,
            gain_before=0.0,
            log_p=0.0,
            is_agreed=False,
            level="sure",
        )


def _distance(change: Replacement, line: int) -> int:
    last = change.first_line + max(change.num_lines, 1) - 1
    return max(change.first_line - line, line - last, 0)
