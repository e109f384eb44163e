"""What could take the place of lines that no longer fit: the model's answer, and a replacement.

The model writes the lines again after the edit as an example. The words that the edit replaced are
also replaced in the line, and the model only says how likely it would have written that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.next_edit.prompt import rewrite_prompt
from intarsia.engine.families.masked_causal.next_edit.rewrite import Rewriter
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.next_edit.code_lines import lines_of, with_newline
from intarsia.engine.families.next_edit.example import num_added_lines
from intarsia.engine.families.next_edit.region import LineChange, smallest_change
from intarsia.engine.families.next_edit.substitution import substituted
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import EditExample


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """A change of a region's lines, and its log-probability after the edit as an example."""

    change: LineChange
    log_p: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """Lines that may be written again. ``place`` is the index of the line that no longer fits."""

    lines: Sequence[str]
    place: int


class CorrectionWriter:
    """Writes corrections with one backbone. It sees the example and the lines, not the window."""

    def __init__(self, backbone: CausalBackbone, text: FimTokenizer) -> None:
        self._backbone = backbone
        self._text = text
        self._rewriter = Rewriter(backbone, text.end_ids)

    def write(
        self, region: Region, example: EditExample, control: FillControl
    ) -> Iterator[Correction]:
        """Yield the corrections of a region, each once. Raises Cancelled between two passes."""
        *prompt, last = rewrite_prompt(self._text, example, "".join(region.lines))
        read = self._backbone.new_cache()
        self._rewriter.read(read, prompt, control)
        replaced = _replaced(region, example)
        draft = self._text.encode(with_newline("".join(replaced[0] if replaced else region.lines)))
        answer = self._rewriter.write(self._copy(read), [last], draft, control)
        new = "".join(self._text.pieces(answer.ids, num_given=0))
        written = _change(region, _first_lines(new, len(region.lines) + num_added_lines(example)))
        if written is not None:
            yield Correction(change=written, log_p=answer.log_p)
        for lines in replaced:
            by_words = _change(region, "".join(lines))
            if by_words is not None and by_words != written:
                ids = self._text.encode(with_newline("".join(lines)))
                log_p = self._rewriter.log_probability(self._copy(read), [last], ids, control)
                yield Correction(change=by_words, log_p=log_p)

    def _copy(self, cache: KvCache) -> KvCache:
        copy = self._backbone.new_cache()
        copy.copy_prefix(cache, len(cache))
        return copy


def _replaced(region: Region, example: EditExample) -> Sequence[Sequence[str]]:
    """Return the lines with replacements of the edit in the place's line, in each way."""
    above, below = region.lines[: region.place], region.lines[region.place + 1 :]
    return [[*above, line, *below] for line in substituted(region.lines[region.place], example)]


def _change(region: Region, new: str) -> LineChange | None:
    old = lines_of(with_newline("".join(region.lines)))
    return smallest_change(old, lines_of(with_newline(new)), place=region.place)


def _first_lines(text: str, number: int) -> str:
    return "".join(lines_of(with_newline(text))[:number])
