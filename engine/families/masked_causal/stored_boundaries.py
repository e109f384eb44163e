"""The context boundaries of stored contexts, so that a restarted engine ends contexts there again.

A boundary (``context_boundary.py``) needs the texts before and after it. Both are in the context's
own tokens.
"""

from collections.abc import Iterator, Sequence

from intarsia.engine.families.masked_causal.context_boundary import ContextBoundary
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer


def stored_boundaries(text: FimTokenizer, context: Sequence[int]) -> Iterator[ContextBoundary]:
    """Yield the boundaries at which requests would open this context.

    There are none for a context with code of other files, or one that was trimmed within a
    character, and two if the suffix is one that means an empty one too.
    """
    parts = text.split_context(context)
    if parts is None:
        return
    try:
        prefix, suffix = (b"".join(map(text.bytes_of, ids)).decode() for ids in parts[:2])
    except UnicodeDecodeError:
        return
    suffixes = [suffix, ""] if text.context([], []) == text.context([], parts[1]) else [suffix]
    for each in suffixes:
        yield ContextBoundary(prefix=prefix, suffix=each, context=context[: parts[2]])
