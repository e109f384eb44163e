"""Edits a selection by an instruction, for models that follow instructions.

    text, selection, instruction ── turn ── engine ──▶ answer ── read ──▶ the new selection

The model sees the code around the selection, the selection and the instruction, each as data: the
engine alone adds the marks of a chat. Its answer is a block of code. What is not one, or breaks the
file, becomes a reason.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import dedent

from intarsia.engine.ipc.messages import ChatTurn, Fill, Filled
from intarsia.infill.canvas import Budget, shown_around
from intarsia.infill.filling.outcome import FilledPlace, Selection, result_of
from intarsia.infill.filling.plan import Attempts, FillContext, FillOptions
from intarsia.infill.holes.hole import Hole, OpenHole, hole_for_range
from intarsia.infill.imports.unbound import lost_name
from intarsia.infill.languages import Language
from intarsia.infill.replacement import Replacement
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.text import (
    columns,
    first_hidden,
    indent_unit,
    leading_blank,
    line_end,
    line_start,
    newline_of,
    with_plain_newlines,
)
from intarsia.infill.syntax.tree import num_errors, parse, parse_edited

MAX_SELECTED_CHARS = 6_000
MAX_INSTRUCTION_CHARS = 2_000
AROUND = Budget(prefix_tokens=512, suffix_tokens=192)

ROOM_TOKENS = 256
"""How much longer than the selection an answer may be."""

MAX_REPEATED = 40
"""Lines on either side of the selection that an answer is searched for."""

_BYTES_PER_TOKEN = 2  # fewer than code has: a selection must fit into its answer
_SPACES = 4  # of a step that a model indents by
_FENCE = re.compile(r"^[ \t]*(`{3,})[^`\n]*$", re.MULTILINE)
_SYSTEM = "You are a helpful assistant."


@dataclass(frozen=True, kw_only=True, slots=True)
class Instructed:
    """A selection that is to be edited: ``text[start:end]``, and what the model is shown of it."""

    text: str
    start: int
    end: int
    language: Language
    instruction: str

    @property
    def indent(self) -> str:
        """The blanks before each line of the selection, which the model is not shown."""
        first, *others = self.lines
        blank = leading_blank(first)
        is_common = all(line.startswith(blank) for line in others if line.strip())
        return blank if is_common else ""

    @property
    def lines(self) -> list[str]:
        return with_plain_newlines(self.text[self.start : self.end]).split("\n")

    @property
    def shown(self) -> str:
        """The selection as the model is shown it."""
        return "\n".join(line.removeprefix(self.indent) for line in self.lines)

    @property
    def hole(self) -> Hole:
        return hole_for_range(self.text, self.start, self.end, self.language)


def instructed(
    text: str, selection: Selection, instruction: str, language: Language
) -> Instructed | NoSuggestion:
    """Return what is to be edited: whole lines where only blanks are before the selection."""
    start, end = selection.start, selection.end
    end = start + len(text[start:end].rstrip())
    start += len(text[start:end]) - len(text[start:end].lstrip())
    if start >= end:
        return NoSuggestion(reason="nothing to edit is selected: select some code")
    if not instruction.strip():
        return NoSuggestion(reason="there is no instruction: say what is to be changed")
    for what, size, most in (
        ("the selection", end - start, MAX_SELECTED_CHARS),
        ("the instruction", len(instruction), MAX_INSTRUCTION_CHARS),
    ):
        if size > most:
            reason = f"{what} is too long: {size:,} characters, and {most:,} at most"
            return NoSuggestion(reason=reason)
    if not text[line_start(text, start) : start].strip():
        start = line_start(text, start)
    return Instructed(
        text=text, start=start, end=end, language=language, instruction=instruction.strip()
    )


def turn_for(edit: Instructed) -> ChatTurn:
    """Return what the model is asked."""
    hole = edit.hole
    document = hole.code.outer or hole.code
    around = shown_around(document, hole.given_start, hole.end, AROUND)
    parts = (
        ("The code above it, for reference:", around["prefix"].strip("\n")),
        ("The code below it, for reference:", around["suffix"].strip("\n")),
        ("Code to edit:", edit.shown),
    )
    begin, end = f"{fence_for(edit)}{_language_of(edit)}", fence_for(edit)
    shown = [f"{title}\n{begin}\n{code}\n{end}" for title, code in parts if code.strip()]
    asked = f"Instruction: {edit.instruction}", "Write only the edited code."
    return ChatTurn(system=_SYSTEM, user="\n\n".join([*shown, *asked]))


def _language_of(edit: Instructed) -> str:
    return code_at(edit.text, edit.start, edit.end, edit.language).language.id


def fence_for(edit: Instructed) -> str:
    """Return backticks that the code has no line of."""
    found = [len(it[0]) for it in re.finditer(r"`{3,}", edit.text)]
    return "`" * (max(found, default=2) + 1)


def request_for(
    edit: Instructed, options: FillOptions, *, alternative: int = 0, is_watched: bool = False
) -> Fill:
    """Return the message for the engine. The answer begins within its block of code."""
    fence = fence_for(edit)
    num_tokens = len(edit.shown.encode("utf-8", "replace")) // _BYTES_PER_TOKEN
    return Fill(
        id=0,  # the client numbers its requests
        prefix="",
        suffix="",
        given=f"{fence}{_language_of(edit)}\n",
        draft=edit.shown,
        chat=turn_for(edit),
        stop=(f"\n{fence}",),
        max_tokens=options.max_tokens or num_tokens + ROOM_TOKENS,
        max_steps=options.max_steps,
        deadline_ms=options.deadline_ms,
        decoding=options.decoding,
        temperature=options.temperature,
        seed=options.seed,
        alternative=alternative,
        is_background=options.is_background,
        watch=is_watched,
        fresh=options.is_fresh,
        model=options.model,
    )


async def instruct_selection(
    context: FillContext, text: str, selection: Selection, instruction: str
) -> FilledPlace:
    """Edit the selection as the instruction says. A rejected answer is asked for again."""
    edit = instructed(text, selection, instruction, context.language)
    if isinstance(edit, NoSuggestion):
        return FilledPlace(place=selection, text=text, shift=0, opened=None, outcome=edit)
    hole, attempts = edit.hole, Attempts(partial(read_answer, edit))
    on_step = context.on_step and partial(context.on_step, text, hole)
    for alternative in attempts:
        request = request_for(
            edit, context.options, alternative=alternative, is_watched=on_step is not None
        )
        answer = await context.ask(request, on_step if alternative == 0 else None)
        is_late = isinstance(answer, Filled) and answer.finish_reason == "deadline"
        attempts.take(answer, is_final=is_late)
    return FilledPlace(
        place=selection,
        text=text,
        shift=0,
        opened=OpenHole(shown=text, hole=hole, start=edit.start, end=edit.end),
        outcome=result_of(attempts, hole),
    )


_CUT_SHORT = {
    "max_tokens": "it is much longer than the selection",
    "max_steps": "it took too many passes",
    "deadline": "the time was up",
}


def read_answer(edit: Instructed, filled: Filled) -> Suggestion | NoSuggestion:
    """Return what replaces the selection, or why the answer cannot."""
    if why := _CUT_SHORT.get(filled.finish_reason):
        return NoSuggestion(reason=f"the model's answer is not complete: {why}")
    code = _without_echo(edit, code_of(with_plain_newlines(filled.text)))
    if not code.strip():
        return NoSuggestion(reason="the model answered with no code")
    lines = _indented(edit, code)
    if lines == [line if line.strip() else "" for line in edit.lines]:
        return NoSuggestion(reason="the model would leave the selection as it is")
    new = newline_of(edit.text).join(lines)
    if first_hidden(new, known=edit.text) is not None:
        return NoSuggestion(reason="the model's answer has a hidden character")
    if _adds_error(edit, new):
        return NoSuggestion(reason="the code would not parse with the model's answer")
    change = Replacement(start=edit.start, end=edit.end, new=new)
    name = lost_name(edit.text, change, edit.language)
    if name is not None and name not in edit.instruction:
        return NoSuggestion(reason=f"`{name}`, which the file uses, would have no definition")
    return Suggestion(text=new, start=edit.start, end=edit.end)


def code_of(answer: str) -> str:
    """Return the code of an answer: its first block, even one that does not end, else all of it."""
    opened = _FENCE.search(answer)
    if opened is None:
        return answer.strip("\n")
    if answer[: opened.start()].strip() and not answer[opened.end() :].strip():
        return answer[: opened.start()].strip("\n")  # it ends a block that was open already
    closed = re.compile(rf"^[ \t]*{opened[1]}[ \t]*$", re.MULTILINE).search(answer, opened.end())
    return answer[opened.end() : closed.start() if closed else None].strip("\n")


def _without_echo(edit: Instructed, code: str) -> str:
    """Leave out what is around the selection, where the answer repeats it."""
    text = edit.text
    before = text[line_start(text, edit.start) : edit.start].strip()
    if before and code.lstrip().startswith(before):
        code = code.lstrip().removeprefix(before).lstrip(" ")
    after = text[edit.end : line_end(text, edit.end)].strip()
    if after and code.rstrip().endswith(after):
        code = code.rstrip().removesuffix(after)
    lines, own = code.strip("\n").split("\n"), {line.strip() for line in edit.lines}
    headers = _headers(edit) - own
    while lines and lines[0].strip() in headers:
        lines = lines[1:]
    above = with_plain_newlines(text[: edit.start]).split("\n")[:-1]
    below = with_plain_newlines(text[edit.end :]).split("\n")[1:]
    first = _num_repeated(lines, above[-MAX_REPEATED:], own)
    last = _num_repeated(lines[::-1], below[:MAX_REPEATED][::-1], own)
    return "\n".join(lines[first : max(first, len(lines) - last)]).strip("\n")


def _headers(edit: Instructed) -> set[str]:
    """Return the lines that the selection is nested in."""
    found, least = set[str](), columns(edit.lines[0])
    for line in reversed(edit.text[: edit.start].splitlines()):
        if line.strip() and columns(line) < least:
            found.add(line.strip())
            least = columns(line)
    return found


def _num_repeated(lines: Sequence[str], beside: Sequence[str], own: Container[str]) -> int:
    """Return how many of the first lines are the last ones ``beside``; blank lines do not count.

    Lines that the selection has too, and mere brackets, may be its own.
    """
    written = [(i, line.strip()) for i, line in enumerate(lines) if line.strip()]
    known = [line.strip() for line in beside if line.strip()]
    for num in range(min(len(written), len(known)), 0, -1):
        texts = [text for _, text in written[:num]]
        if texts == known[-num:] and any(len(it) > 3 and it not in own for it in texts):
            return written[num - 1][0] + 1
    return 0


def _indented(edit: Instructed, code: str) -> list[str]:
    """Return the lines of an answer as the file would indent them there."""
    if edit.text[line_start(edit.text, edit.start) : edit.start].strip():
        return code.split("\n")  # it begins within a line
    if edit.indent or not leading_blank(edit.lines[0]):
        code = dedent(code)
    unit = indent_unit(edit.text)
    return [edit.indent + _in_unit(line, unit) if line.strip() else "" for line in code.split("\n")]


def _in_unit(line: str, unit: str | None) -> str:
    """Return a line that is indented by tabs where the file is, and by spaces elsewhere."""
    blank = leading_blank(line)
    if unit is None or ("\t" in blank) == (unit == "\t"):
        return line
    if unit != "\t":
        return blank.expandtabs(len(unit)) + line[len(blank) :]
    return "\t" * (len(blank) // _SPACES) + line[len(blank) // _SPACES * _SPACES :]


def _adds_error(edit: Instructed, new: str) -> bool:
    code = code_at(edit.text, edit.start, edit.end, edit.language)
    old = parse(code.text, code.language)
    edited = None if old is None else parse_edited(old, edit.start, edit.end, new)
    return old is not None and edited is not None and num_errors(edited) > num_errors(old)
