"""How a model that follows instructions is asked for the body of a documented function.

Between prefix and suffix a small model writes bodies that are too short, or copies what is around
them. Asked to complete the function, it reads the documentation as a task
(docs/design-notes/several-answers.md).
"""

from dataclasses import replace

import tree_sitter

from intarsia.engine.ipc.messages import ChatTurn
from intarsia.infill.filling.plan import FENCE, FillPlan
from intarsia.infill.holes.find_holes import named_functions
from intarsia.infill.syntax.text import columns, line_at, line_start, with_plain_newlines

MAX_HEAD_CHARS = 4_000
"""The longest function head that is asked about: the model reads it twice."""

_SYSTEM = "You are a helpful assistant."
_USER = "Complete the body of this function.\n{code}\n{fence}\nWrite only the code."


def asking_for_body(plan: FillPlan) -> FillPlan:
    """Return the plan with a question, where its hole is the whole body of a documented function.

    Only in languages with docstrings: Python is where it was measured.
    """
    found = _documented_head(plan) if plan.hole.code.language.has_docstrings else None
    if found is None:
        return plan
    known, body_columns = found
    start = plan.canvas.prefix.rfind(known)
    head = plan.canvas.prefix[start:] if start >= 0 else ""
    if not head or len(head) > MAX_HEAD_CHARS or FENCE in head:
        return plan
    begun = f"{FENCE}{plan.hole.code.language.id}\n{head}"
    asked = _USER.format(code=begun.rstrip(), fence=FENCE)
    canvas = replace(plan.canvas, min_indent=max(plan.canvas.min_indent, body_columns))
    return replace(plan, canvas=canvas, asked=ChatTurn(system=_SYSTEM, user=asked, begun=begun))


def _documented_head(plan: FillPlan) -> tuple[str, int] | None:
    """Return a function up to the end of its docstring, and the column of its body.

    None unless the hole is the rest of that body, but for comments above it.
    """
    hole, code = plan.hole, plan.hole.code
    syntax, text = code.syntax, code.text
    if syntax is None:
        return None
    functions = [
        (syntax.offset_at(owner.start_byte), body) for owner, body in named_functions(syntax)
    ]
    above = [it for it in functions if it[0] < hole.start]
    if not above:
        return None
    start, body = max(above, key=lambda it: it[0])
    docstring = _docstring(body)
    if docstring is None:
        return None
    end = syntax.offset_at(docstring.end_byte)
    body_columns = columns(line_at(text, syntax.offset_at(docstring.start_byte)))
    between = text[end : hole.start].splitlines()[1:] if end <= hole.start else [text]
    is_rest = all(not line.strip() or line.lstrip().startswith("#") for line in between)
    behind = text[hole.end : max(hole.end, syntax.offset_at(body.end_byte))]
    own = text[line_start(text, hole.start) : hole.end]
    is_nested = not own or columns(own + ".") == body_columns
    if "\n" not in text[end : hole.start] or not is_rest or not is_nested or behind.strip():
        return None
    return with_plain_newlines(text[line_start(text, start) : end]), body_columns


def _docstring(body: tree_sitter.Node) -> tree_sitter.Node | None:
    first = next((it for it in body.named_children if it.type != "comment"), None)
    is_string = first is not None and [it.type for it in first.named_children] == ["string"]
    return first if is_string else None
