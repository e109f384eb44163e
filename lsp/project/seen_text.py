"""Tells people what the model sees at a place: each part with its source, reason and cost.

Needs the infill package's grammars, which the server loads on first use.
"""

from collections.abc import Iterator

from intarsia.infill.canvas.window import CHARS_PER_TOKEN
from intarsia.infill.filling.plan import FillPlan
from intarsia.lsp.project.project_contexts import DocumentContext
from intarsia.workspace.context.chunk import Chunk

NOTE = "   "
"""Begins a line about a part; lines stay short, since the text is shown beside the code."""


def seen_text(
    plan: FillPlan, context: DocumentContext | None, *, file: str, tokens_per_s: float | None
) -> str:
    """Return the text to show: the cost, other files' code, the code after and before the hole.

    Tokens are estimated from characters. ``tokens_per_s`` is the engine's measured speed of
    reading, None where it is unknown.
    """
    canvas, chunks = plan.canvas, context.chunks if context else ()
    parts = ["\n".join(_cost(plan, context, tokens_per_s))]
    parts += [_chunk(chunk) for chunk in chunks]
    parts.append(_part(f"{file}: after the hole", canvas.suffix))
    parts.append(_part(f"{file}: before the hole", canvas.prefix))
    if canvas.given:
        parts.append(_part("already there: the fill continues it", canvas.given))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _cost(
    plan: FillPlan, context: DocumentContext | None, tokens_per_s: float | None
) -> Iterator[str]:
    canvas, chunks = plan.canvas, context.chunks if context else ()
    num_window = _num_tokens(canvas.prefix + canvas.given + canvas.suffix)
    num_project = sum(_num_tokens(chunk.text) for chunk in chunks)
    num_tokens = num_project + num_window
    yield f"The model sees about {num_tokens} tokens,"
    yield f"{num_project} of other files, {num_window} of this file."
    if tokens_per_s:
        yield f"To read them once takes {num_tokens / tokens_per_s:.1f} s"
        yield f"at {tokens_per_s:.0f} tokens a second."
    if context is None:
        yield "No code of other files has been chosen yet."


def _chunk(chunk: Chunk) -> str:
    heading = f"{chunk.path}, about {_num_tokens(chunk.text)} tokens"
    return _part(heading, chunk.text, reason=chunk.reason)


def _part(heading: str, text: str, *, reason: str | None = None) -> str:
    lines = [f"── {heading}", *([] if reason is None else [f"{NOTE}{reason}"])]
    return "\n".join([*lines, "", text] if text.strip() else [*lines, f"{NOTE}nothing"])


def _num_tokens(text: str) -> int:
    return round(len(text) / CHARS_PER_TOKEN)
