"""Tells people what the model sees at a place: each part with its source, reason and cost.

Needs the infill package's grammars, which the server loads on first use.
"""

from collections.abc import Iterator

from intarsia.infill.canvas.window import CHARS_PER_TOKEN
from intarsia.infill.filling.plan import FillPlan
from intarsia.lsp.project.document_context import DocumentContext, ScoredChunk

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
    parts += [_chunk(scored) for scored in chunks if scored.is_kept]
    parts.append(_part(f"{file}: after the hole", canvas.suffix))
    parts.append(_part(f"{file}: before the hole", canvas.prefix))
    if canvas.given:
        parts.append(_part("already there: the fill continues it", canvas.given))
    if dropped := [scored for scored in chunks if not scored.is_kept]:
        parts.append("\n".join(["── left out: does not help here", *map(_dropped, dropped)]))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _cost(
    plan: FillPlan, context: DocumentContext | None, tokens_per_s: float | None
) -> Iterator[str]:
    canvas, chunks = plan.canvas, context.chunks if context else ()
    num_window = _num_tokens(canvas.prefix + canvas.given + canvas.suffix)
    num_project = sum(_num_tokens(it.chunk.text) for it in chunks if it.is_kept)
    num_tokens = num_project + num_window
    yield f"The model sees about {num_tokens} tokens,"
    yield f"{num_project} of other files, {num_window} of this file."
    if tokens_per_s:
        yield f"To read them once takes {num_tokens / tokens_per_s:.1f} s"
        yield f"at {tokens_per_s:.0f} tokens a second."
    if context is None:
        yield "No code of other files has been chosen yet."


def _chunk(scored: ScoredChunk) -> str:
    chunk = scored.chunk
    notes = [f"{NOTE}{chunk.reason}"]
    if scored.gain is not None:
        notes.append(f"{NOTE}helps by {_gain(scored.gain)}")
    return _part(f"{chunk.path}, about {_num_tokens(chunk.text)} tokens", chunk.text, *notes)


def _dropped(scored: ScoredChunk) -> str:
    gain = "" if scored.gain is None else f", {_gain(scored.gain)}"
    return f"{NOTE}{scored.chunk.path}{gain}"


def _gain(gain: float) -> str:
    """Return how much likelier the code around the hole becomes."""
    return f"{gain:+.2f} nats a token"


def _part(heading: str, text: str, *notes: str) -> str:
    lines = [f"── {heading}", *notes]
    return "\n".join([*lines, "", text] if text.strip() else [*lines, f"{NOTE}nothing"])


def _num_tokens(text: str) -> int:
    return round(len(text) / CHARS_PER_TOKEN)
