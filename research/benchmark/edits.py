"""Measure how much of a long context is read again after an edit."""

from collections.abc import Sequence
from dataclasses import replace

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Filled
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import CutLine
from intarsia_research.benchmark.figures import Figure, middle_of
from intarsia_research.benchmark.side_by_side import plan_line

APPENDED = "first = second + third * {number} - fifth"
"""About ten tokens."""

_EDITS = 3


async def measure_edits(
    client: EngineClient, options: FillOptions, line: CutLine, first: Filled, kilo: int
) -> list[Figure]:
    """Edit a text of ``kilo`` thousand tokens in two ways, each several times.

    ``first`` is the fill that read the text; it is still in the KV cache.
    """
    appended, within = [], []
    for number in range(_EDITS):
        appended.append(await _fill(client, with_appended(line, number), options))
        await _fill(client, line, options)  # the original text again
        within.append(await _fill(client, with_edited_suffix(line, number), options))
        await _fill(client, line, options)
    return [
        Figure(
            name=f"edit_{kilo}k_cold_read_tokens",
            words=f"{kilo} k context: read the first time",
            value=first.num_prefilled,
            unit="tokens",
            method=f"not cached; {first.ms.prefill:,.0f} ms",
        ),
        *_again("append", "ten tokens appended", kilo, first, appended),
        *_again("suffix", "a word changed in the middle of the suffix", kilo, first, within),
    ]


def with_appended(line: CutLine, number: int) -> CutLine:
    """Return the line's hole after some inserted text."""
    more = APPENDED.format(number=number)
    text = line.text[: line.start] + more + line.text[line.start :]
    return replace(line, text=text, start=line.start + len(more), end=line.end + len(more))


def with_edited_suffix(line: CutLine, number: int) -> CutLine:
    """Return the line's hole with a comment inserted in the middle of the suffix."""
    middle = (line.end + len(line.text)) // 2
    at = line.text.index("\n", middle)
    return replace(line, text=f"{line.text[:at]}  # edit {number}{line.text[at:]}")


def _again(
    name: str, words: str, kilo: int, first: Filled, fills: Sequence[Filled]
) -> list[Figure]:
    method = f"{kilo} k context cached, then {words}"
    return [
        middle_of(
            [it.num_prefilled for it in fills],
            name=f"edit_{kilo}k_{name}_read_tokens",
            words=f"{words}: read again",
            unit="tokens",
            method=method,
        ),
        middle_of(
            [100 * it.num_prefilled / max(1, first.num_prefilled) for it in fills],
            name=f"edit_{kilo}k_{name}_token_share",
            words=f"{words}: share of the tokens",
            unit="%",
            method=f"{method}; of those read the first time",
        ),
        middle_of(
            [100 * it.ms.prefill / max(1e-3, first.ms.prefill) for it in fills],
            name=f"edit_{kilo}k_{name}_time_share",
            words=f"{words}: share of the time",
            unit="%",
            method=f"{method}; of the time of the first prefill",
        ),
    ]


async def _fill(client: EngineClient, line: CutLine, options: FillOptions) -> Filled:
    return await client.fill(plan_line(line, options).request(options))
