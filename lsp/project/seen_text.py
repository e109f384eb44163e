"""Tells people what the model sees at a place: each part with its source, reason and cost.

Needs the infill package's grammars, which the server loads on first use.
"""

from collections.abc import Iterator

from intarsia.infill.canvas.window import CHARS_PER_TOKEN
from intarsia.infill.filling.plan import FillPlan
from intarsia.lsp.project.document_context import DocumentContext, ScoredChunk


def seen_text(
    plan: FillPlan, context: DocumentContext | None, *, file: str, tokens_per_s: float | None
) -> str:
    """Return the text to show: other files' code, the code after and before the hole, the cost.

    Tokens are estimated from characters. ``tokens_per_s`` is the engine's measured speed of
    reading, None where it is unknown.
    """
    canvas = plan.canvas
    parts = [_part(scored) for scored in (context.chunks if context else ()) if scored.is_kept]
    parts.append(f"── {file}: after the hole\n{canvas.suffix}")
    parts.append(f"── {file}: before the hole\n{canvas.prefix}")
    if canvas.given:
        parts.append(f"── already there, the fill continues it\n{canvas.given}")
    parts.append("\n".join(_notes(plan, context, tokens_per_s)))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _part(scored: ScoredChunk) -> str:
    chunk = scored.chunk
    kind = chunk.kind.replace("_", " ")
    heading = f"── {chunk.path} ({kind}, about {_num_tokens(chunk.text)} tokens) · {chunk.reason}"
    return f"{heading}{_gain(scored)}\n{chunk.text}"


def _gain(scored: ScoredChunk) -> str:
    if scored.gain is None:
        return ""
    return f" · {scored.gain:+.2f} nats a token on the code around the hole"


def _notes(
    plan: FillPlan, context: DocumentContext | None, tokens_per_s: float | None
) -> Iterator[str]:
    canvas, chunks = plan.canvas, context.chunks if context else ()
    num_window = _num_tokens(canvas.prefix + canvas.given + canvas.suffix)
    num_project = sum(_num_tokens(it.chunk.text) for it in chunks if it.is_kept)
    num_tokens = num_project + num_window
    yield f"about {num_tokens} tokens: {num_project} of other files, {num_window} of this file"
    if tokens_per_s:
        seconds = num_tokens / tokens_per_s
        yield f"{seconds:.1f} s to read all of it once, at {tokens_per_s:.0f} tokens a second"
    if context is None:
        yield "no code of other files: none has been chosen for this file yet"
    for scored in chunks:
        if not scored.is_kept:
            yield f"left out, because it does not help here: {scored.chunk.path}{_gain(scored)}"


def _num_tokens(text: str) -> int:
    return round(len(text) / CHARS_PER_TOKEN)
