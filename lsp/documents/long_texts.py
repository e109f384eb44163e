"""Works on long texts in a thread, so that the event loop answers other requests meanwhile.

A document is a frozen value: what a thread reads does not change. It may be outdated afterwards.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from intarsia.infill.languages import Language

MAX_CHARS_ON_LOOP = 100_000

T = TypeVar("T")


async def read_text(text: str, work: Callable[[], T]) -> T:
    """Return what ``work`` makes of the text; it runs in a thread if the text is long."""
    return await asyncio.to_thread(work) if len(text) > MAX_CHARS_ON_LOOP else work()


async def parse_if_long(text: str, offset: int, language: "Language") -> None:
    """Have a long text parsed. Planning a fill at this offset then finds it parsed."""
    if len(text) > MAX_CHARS_ON_LOOP:
        await asyncio.to_thread(partial(_parse, text, offset, language))


def _parse(text: str, offset: int, language: "Language") -> None:
    from intarsia.infill.syntax.embedded_code import code_at
    from intarsia.infill.syntax.parse import parse

    code = code_at(text, offset, offset, language)
    parse(text, language)
    parse(code.text, code.language)
