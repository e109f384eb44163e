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
from intarsia.engine.families.masked_causal.next_edit.window_reader import ReadWindow
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
    """Writes corrections with one backbone. With an edit adapter it sees the window, too."""

    def __init__(self, backbone: CausalBackbone, text: FimTokenizer) -> None:
        self._backbone = backbone
        self._text = text
        self._rewriter = Rewriter(backbone, text.end_ids)

    def write(
        self, region: Region, example: EditExample, window: ReadWindow, control: FillControl
    ) -> Iterator[Correction]:
        """Yield the corrections of a region, each once. Raises Cancelled between two passes."""
        prompt = rewrite_prompt(self._text, example, "".join(region.lines))
        replaced = _replaced(region, example)
        draft = self._text.encode(with_newline("".join(replaced or region.lines)))
        answer = self._rewriter.write(
            self._cache(window), prompt, draft, control, is_adapted=self._is_adapted
        )
        new = "".join(self._text.pieces(answer.ids, num_given=0))
        if not self._is_adapted:
            new = _first_lines(new, len(region.lines) + num_added_lines(example))
        written = _change(region, new) if answer.is_whole or not self._is_adapted else None
        if written is not None:
            yield Correction(change=written, log_p=answer.log_p)
        by_words = None if replaced is None else _change(region, "".join(replaced))
        if by_words is not None and by_words != written:
            ids = self._text.encode(with_newline("".join(replaced or ())))
            log_p = self._rewriter.log_probability(
                self._cache(window), prompt, ids, control, is_adapted=self._is_adapted
            )
            yield Correction(change=by_words, log_p=log_p)

    @property
    def _is_adapted(self) -> bool:
        return self._backbone.has_edit_adapter

    def _cache(self, window: ReadWindow) -> KvCache:
        """Return what the prompt follows."""
        cache = self._backbone.new_cache()
        if self._is_adapted:
            cache.copy_prefix(window.cache, len(window.ids))
        return cache


def _replaced(region: Region, example: EditExample) -> Sequence[str] | None:
    """Return the lines with the edit's replacements in the place's line, None if it has none."""
    line = substituted(region.lines[region.place], example)
    if line is None:
        return None
    return [*region.lines[: region.place], line, *region.lines[region.place + 1 :]]


def _change(region: Region, new: str) -> LineChange | None:
    old = lines_of(with_newline("".join(region.lines)))
    return smallest_change(old, lines_of(with_newline(new)), place=region.place)


def _first_lines(text: str, number: int) -> str:
    return "".join(lines_of(with_newline(text))[:number])
