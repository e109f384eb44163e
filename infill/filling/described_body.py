"""How a model that follows instructions is asked for the body of a documented function.

Between prefix and suffix a small model writes bodies that are too short, or copies what is around
them. Asked to complete the function, it reads the documentation as a task
(docs/design-notes/several-answers.md).
"""

import re
from dataclasses import replace
from typing import NamedTuple

import tree_sitter

from intarsia.engine.ipc.messages import ChatTurn
from intarsia.infill.filling.plan import FENCE, FillPlan
from intarsia.infill.holes.find_holes import (
    functions_around,
    has_name,
    notes_above,
    read_body,
)
from intarsia.infill.holes.hole import Hole
from intarsia.infill.syntax.text import (
    columns,
    last_non_blank,
    line_at,
    line_start,
    with_plain_newlines,
)
from intarsia.infill.syntax.tree import Syntax

MAX_HEAD_CHARS = 4_000
"""The longest function head that is asked about: the model reads it twice."""

_SYSTEM = "You are a helpful assistant."
_USER = "Complete the body of this function.\n{code}\n{fence}\nWrite only the code."


class _Head(NamedTuple):
    """A function with its documentation, up to its body."""

    start: int
    end: int  # behind the docstring or what opens the body
    body_end: int
    body_columns: int  # 0 where a bracket or word ends the body


def asking_for_body(plan: FillPlan, *, at_cursor: bool) -> FillPlan:
    """Return the plan with a question, where its hole is the body of a documented function.

    The documentation is a docstring, or ``at_cursor`` also a comment right above it. Elsewhere the
    body may be begun: then its hole is the rest, and the answer goes on with what is written.
    """
    hole = plan.hole
    may_be_body = hole.kind != "line" or hole.start < hole.end
    may_be_body &= at_cursor or hole.code.language.has_docstrings
    head = _documented_head(hole) if may_be_body else None
    if head is None or not _is_body(hole, head, may_be_begun=not at_cursor):
        return plan
    text, first = hole.code.text, line_start(hole.code.text, head.start)
    known = with_plain_newlines(text[first : head.end])
    start = plan.canvas.prefix.rfind(known)
    code = plan.canvas.prefix[start:]
    if start < 0:  # a short window has not all of it
        code = with_plain_newlines(text[first : hole.given_start])
    if len(code) > MAX_HEAD_CHARS or FENCE in code:
        return plan
    opening = f"{FENCE}{hole.code.language.id}\n"
    remarks = _REMARKS.match(code, len(known))
    documented = code[: remarks.end() if remarks else len(known)].rstrip()
    asked = _USER.format(code=opening + documented, fence=FENCE)
    canvas = replace(plan.canvas, min_indent=max(plan.canvas.min_indent, head.body_columns))
    turn = ChatTurn(system=_SYSTEM, user=asked, begun=opening + code)
    return replace(plan, canvas=canvas, asked=turn)


def _is_body(hole: Hole, head: _Head, *, may_be_begun: bool) -> bool:
    """Whether a hole is all of a body, or its end where it is begun, in lines below the head."""
    text = hole.code.text
    written, behind = text[head.end : hole.start], text[hole.end : max(hole.end, head.body_end)]
    own = text[line_start(text, hole.start) : hole.end]
    is_begun = not _REMARKS.fullmatch(written.rstrip() + "\n")
    is_nested = columns(own + ".") >= head.body_columns or not (own or is_begun)
    is_body = "\n" in written and is_nested and not behind.strip()
    return is_body and (may_be_begun or not is_begun)


_REMARKS = re.compile(r"(?:[ \t]*(?:(?:#|//|/\*|\*|--).*)?\n)*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST_WORDS = 2


def _documented_head(hole: Hole) -> _Head | None:
    """Return the innermost function above the hole, None where nothing tells what it does."""
    syntax = hole.code.syntax
    if syntax is None:
        return None
    near = max(0, last_non_blank(syntax.text, hole.start))
    above = [it for it in functions_around(syntax, near, hole.end) if _is_named(it[0])]
    above = [it for it in above if syntax.offset_at(it[0].start_byte) < hole.start]
    if not above:
        return None
    owner, body = max(above, key=lambda it: it[0].start_byte)
    find = _with_docstring if syntax.language.has_docstrings else _with_comment
    return find(syntax, owner, body)


def _is_named(owner: tree_sitter.Node) -> bool:
    """Whether a function has a name, or a variable or property has it as its value."""
    parent = owner.parent
    is_value = parent is not None and owner in map(parent.child_by_field_name, ("value", "right"))
    return is_value or has_name(owner)


def _with_docstring(
    syntax: Syntax, owner: tree_sitter.Node, body: tree_sitter.Node
) -> _Head | None:
    first = next((it for it in body.named_children if it.type != "comment"), None)
    if first is None or [it.type for it in first.named_children] != ["string"]:
        return None
    return _Head(
        start=syntax.offset_at(owner.start_byte),
        end=syntax.offset_at(first.end_byte),
        body_end=syntax.offset_at(body.end_byte),
        body_columns=columns(line_at(syntax.text, syntax.offset_at(first.start_byte))),
    )


def _with_comment(syntax: Syntax, owner: tree_sitter.Node, body: tree_sitter.Node) -> _Head | None:
    found, (start, comments) = read_body(syntax, body, owner), notes_above(syntax, owner)
    if found is None or sum(len(_WORD.findall(it)) for it in comments) < _LEAST_WORDS:
        return None
    return _Head(
        start=start,
        end=syntax.offset_at(found.inside.start),
        body_end=syntax.offset_at(found.inside.end),
        body_columns=0,
    )
