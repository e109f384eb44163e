"""What the model sees at a place, in words: code of other files, and the text around the hole."""

from collections.abc import Iterator, Sequence

from intarsia.infill.canvas import CHARS_PER_TOKEN
from intarsia.infill.filling.plan import FillPlan
from intarsia.workspace.context.chunk import Chunk

ESTIMATED_TOKENS_PER_S = 600.0
"""The default model on two cores (research/results.md): about 1.7 s for 1,000 tokens."""

HEADING = "── "
_NOTE = "   "  # before a line about a part


def seen_text(
    plan: FillPlan,
    chunks: Sequence[Chunk] | None,
    *,
    file: str,
    tokens_per_s: float | None,
    is_complete: bool,
) -> str:
    """Return the text to show: the cost, other files' code, the code after and before the hole.

    ``chunks`` are None where no other file is read, ``tokens_per_s`` is None where the engine has
    not measured how quickly it reads. Lines of ours stay short: editors show the text beside the
    code.
    """
    canvas = plan.canvas
    parts = ["\n".join(_cost(plan, chunks, tokens_per_s, is_complete=is_complete))]
    if plan.asked is not None:
        parts.append(_part("a model that follows instructions is asked instead", plan.asked.user))
    parts += [_part(_heading_of(it), it.text, reason=it.reason) for it in chunks or ()]
    parts.append(_part(f"{file}: after the hole", canvas.suffix))
    parts.append(_part(f"{file}: before the hole", canvas.prefix))
    if canvas.given.strip():
        parts.append(_part("already there: the fill continues it", canvas.given))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def chunk_tokens(chunk: Chunk) -> int:
    """Return about how many tokens a chunk has, with its path."""
    return num_tokens(f"{chunk.path}\n{chunk.text}\n")


def window_tokens(plan: FillPlan) -> int:
    """Return about how many tokens of its own file a hole's plan shows."""
    canvas = plan.canvas
    return num_tokens(canvas.prefix + canvas.given + canvas.suffix)


def num_tokens(text: str) -> int:
    """Return about how many tokens a text has: only the engine has a tokenizer."""
    return round(len(text) / CHARS_PER_TOKEN)


def _cost(
    plan: FillPlan,
    chunks: Sequence[Chunk] | None,
    tokens_per_s: float | None,
    *,
    is_complete: bool,
) -> Iterator[str]:
    num_window, num_project = window_tokens(plan), sum(map(chunk_tokens, chunks or ()))
    speed = ESTIMATED_TOKENS_PER_S if tokens_per_s is None else tokens_per_s
    source = "estimated" if tokens_per_s is None else "measured"
    yield f"The model sees about {num_project + num_window} tokens,"
    yield f"{num_project} from other files, {num_window} from this file."
    yield f"Reading them once takes {(num_project + num_window) / speed:.1f} s"
    yield f"at {speed:.0f} tokens a second ({source})."
    if not is_complete:
        yield "The folder is still being read: ask again for more of its code."
    elif chunks is None:
        yield "Other files are not read here: no folder is open, or projectContext is off."
    elif not chunks:
        yield "No code that helps here was found in other files."


def _heading_of(chunk: Chunk) -> str:
    kind = chunk.kind.replace("_", " ")
    return f"{chunk.path} ({kind}, about {chunk_tokens(chunk)} tokens)"


def _part(heading: str, text: str, *, reason: str | None = None) -> str:
    lines = [f"{HEADING}{heading}", *([] if reason is None else [f"{_NOTE}{reason}"])]
    return "\n".join([*lines, "", text] if text.strip() else [*lines, f"{_NOTE}nothing"])
