"""Fills encoded cases with a uniform-state backbone, by the engine's own denoising loop.

The cases and the answers are token ids: this runs where there is neither a tokenizer nor text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.denoise import denoise
from intarsia.engine.diffusion.length import rank_lengths
from intarsia.engine.fill_control import NO_CONTROL
from intarsia_research.training.uniform_causal_backbone import (
    ReadContexts,
    UniformCausalBackbone,
    UniformChanges,
)
from intarsia_research.training.uniform_causal_rows import IGNORED, CanvasRows
from intarsia_research.uniform_study.arms import Arm
from intarsia_research.uniform_study.pass_batcher import PassBatcher

MAX_TOKENS = 64
"""Of a hole, in every arm: training showed no longer ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseIds:
    """A case: what is read before the hole, what follows it, and the ids that may come first.

    A ``draft`` is what the canvas begins with, in place of noise.
    """

    name: str
    context: Sequence[int]
    suffix: Sequence[int]
    truth: Sequence[int]
    first: Sequence[int] | None = None  # None: any
    draft: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """Ids that mean no text."""

    end: int
    pad: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledIds:
    """The answer of an arm to a case; the end token and what follows it may be among the ids."""

    ids: Sequence[int]
    confidences: Sequence[float]
    mean_entropy: float
    num_forwards: int


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Pass:
    """Canvases after the context of one case. ``predicted``: mean embeddings (length, hidden) of
    the step before. ``is_causal``: read by the backbone itself."""

    case: int
    canvases: Sequence[Tensor]
    predicted: Tensor | None = None
    is_causal: bool = False


_Ask: TypeAlias = Callable[[_Pass], Sequence[Tensor]]
"""Returns the logits (1 + length, vocab) of each canvas: the last row is of what would follow."""


class CaseFiller:
    """Fills cases, many at once."""

    def __init__(
        self,
        backbone: UniformCausalBackbone,
        changes: UniformChanges,
        marks: Marks,
        *,
        num_pinned: int,
        seed: int = 0,
    ) -> None:
        self._backbone, self._changes, self._marks = backbone, changes, marks
        self._num_pinned, self._seed = num_pinned, seed

    @torch.inference_mode()
    def fill(self, cases: Sequence[CaseIds], arm: Arm) -> list[FilledIds]:
        """Return the answers to all cases; they share forward passes."""
        read = self._backbone.prefill([case.context[:-1] for case in cases])
        answers: list[FilledIds | None] = [None] * len(cases)

        def fill_one(number: int, ask: _Ask) -> None:
            with torch.inference_mode():
                answers[number] = _CaseFill(
                    self._backbone, arm, cases[number], number, self._marks, ask
                ).write(num_pinned=self._num_pinned, seed=self._seed)

        batcher: PassBatcher[_Pass, Sequence[Tensor]] = PassBatcher(
            lambda passes: self._run(passes, cases, read)
        )
        batcher.run([partial(fill_one, number) for number in range(len(cases))])
        return [answer for answer in answers if answer is not None]

    @torch.inference_mode()
    def likely_mistakes(self, cases: Sequence[CaseIds], places: Sequence[int]) -> list[int]:
        """Return for each case the token that the backbone itself finds likeliest at this place of
        the truth, apart from the true one."""
        read = self._backbone.prefill([case.context[:-1] for case in cases])
        truths = [torch.tensor(case.truth, device=self._backbone.device) for case in cases]
        passes = [
            _Pass(case=number, canvases=[truth], is_causal=True)
            for number, truth in enumerate(truths)
        ]
        mistakes = []
        for (logits,), truth, place in zip(
            self._run(passes, cases, read), truths, places, strict=True
        ):
            best = logits[place].topk(2).indices
            mistakes.append(int(best[1] if best[0] == truth[place] else best[0]))
        return mistakes

    def _run(
        self, passes: Sequence[_Pass], cases: Sequence[CaseIds], read: ReadContexts
    ) -> list[Sequence[Tensor]]:
        """Make one pass over the canvases; causal ones, read otherwise, make another."""
        found: dict[int, Sequence[Tensor]] = {}
        for is_causal in (False, True):
            chosen = [i for i, one in enumerate(passes) if one.is_causal == is_causal]
            if chosen:
                several = [passes[i] for i in chosen]
                logits = self._logits(several, cases, read, is_causal=is_causal)
                found.update(zip(chosen, logits, strict=True))
        return [found[i] for i in range(len(passes))]

    def _logits(
        self,
        passes: Sequence[_Pass],
        cases: Sequence[CaseIds],
        read: ReadContexts,
        *,
        is_causal: bool,
    ) -> Iterator[Sequence[Tensor]]:
        device = self._backbone.device
        chosen = torch.tensor([one.case for one in passes], device=device)
        contexts = read.chosen(chosen)
        lengths = [[1 + len(ids) for ids in one.canvases] for one in passes]
        num_rows = max(map(sum, lengths))
        shape = (len(passes), num_rows)
        ids, canvas = torch.zeros(shape, dtype=torch.long), torch.full(shape, IGNORED)
        offsets = torch.zeros(shape, dtype=torch.long)
        ids = ids.to(device)
        predicted = None
        if any(one.predicted is not None for one in passes):
            hidden = self._backbone.shape.hidden
            predicted = torch.zeros(*shape, hidden, dtype=self._backbone.dtype, device=device)
        for h, one in enumerate(passes):
            at = 0
            for n, given in enumerate(one.canvases):
                ids[h, at] = cases[one.case].context[-1]
                ids[h, at + 1 : at + 1 + len(given)] = given
                canvas[h, at : at + 1 + len(given)] = n
                offsets[h, at : at + 1 + len(given)] = torch.arange(1 + len(given))
                at += 1 + len(given)
            if predicted is not None and one.predicted is not None:
                predicted[h, 1 : 1 + len(one.predicted)] = one.predicted
        offsets = offsets.to(device)
        rows = CanvasRows(
            ids=ids,
            positions=contexts.num[:, None] + offsets,
            canvas=canvas.to(device),
            targets=ids,
            weights=ids,
            is_needed=ids,
        )
        changes = None if is_causal else self._changes
        hidden_states = self._backbone.forward_rows(rows, contexts, changes, predicted)
        logits = self._backbone.logits(hidden_states)
        for h, each in enumerate(lengths):
            yield torch.split(logits[h, : sum(each)], each)


class _CaseFill:
    """One fill of one case."""

    def __init__(
        self,
        backbone: UniformCausalBackbone,
        arm: Arm,
        case: CaseIds,
        number: int,
        marks: Marks,
        ask: _Ask,
    ) -> None:
        self._backbone, self._arm, self._case, self._number = backbone, arm, case, number
        self._marks, self._ask = marks, ask
        self._num_forwards = 0
        self._forbidden: Tensor | None = None  # (vocab,) bool: may not come first
        if arm.heals and case.first is not None:
            size = (backbone.shape.vocab_size,)
            self._forbidden = torch.ones(size, dtype=torch.bool, device=backbone.device)
            self._forbidden[torch.tensor(case.first, device=backbone.device)] = False

    def write(self, *, num_pinned: int, seed: int) -> FilledIds:
        if self._arm.length == "left_to_right":
            return self._left_to_right()
        suffix = list(self._case.suffix[:num_pinned])
        written = [
            self._denoise(length, suffix, seed=seed + 1000 * noise)
            for length in self._lengths(suffix, seed)
            for noise in range(self._arm.num_seeds)
        ]
        best = self._likeliest(written) if len(written) > 1 else 0
        ids, confidences, entropy = written[best]
        return FilledIds(
            ids=ids,
            confidences=confidences,
            mean_entropy=entropy,
            num_forwards=self._num_forwards,
        )

    def _lengths(self, suffix: list[int], seed: int) -> list[int]:
        arm = self._arm
        if arm.length == "oracle":
            return [max(1, min(len(self._case.truth), MAX_TOKENS))]
        if arm.length == "free" or not suffix:
            return [arm.free_length]
        ranked, num = rank_lengths(
            self._predict_each,
            candidate_lengths(MAX_TOKENS),
            lambda length: self._canvas(length, suffix, self._generator(seed)),
            control=NO_CONTROL,
        )
        self._num_forwards += num
        return ranked[: arm.num_lengths]

    def _denoise(
        self, length: int, suffix: list[int], *, seed: int
    ) -> tuple[list[int], list[float], float]:
        generator = self._generator(seed)
        pinned = [] if self._arm.length == "free" else suffix
        denoised = denoise(
            self._predict,
            self._canvas(length, pinned, generator),
            self._arm.policy(vocab_size=self._backbone.shape.vocab_size, end_id=self._marks.end),
            generator=generator,
        )
        self._num_forwards += denoised.num_forwards
        return (
            denoised.ids[:length].tolist(),
            denoised.confidences[:length].tolist(),
            float(denoised.entropies[:length].mean()),
        )

    def _predict(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        predicted = None
        if self_conditioning is not None and self._arm.is_conditioned:
            predicted = self._backbone.mean_embedding(self_conditioning)
        (logits,) = self._ask(
            _Pass(case=self._number, canvases=[canvas.ids], predicted=predicted)
        )
        return self._healed(logits[:-1])

    def _predict_each(self, canvases: Sequence[TokenCanvas]) -> Sequence[Tensor]:
        asked = _Pass(case=self._number, canvases=[canvas.ids for canvas in canvases])
        return [logits[:-1] for logits in self._ask(asked)]

    def _healed(self, logits: Tensor) -> Tensor:
        """Return the logits; only what continues the half-typed text may come first."""
        if self._forbidden is not None:
            logits = logits.clone()
            logits[0, self._forbidden] = -torch.inf
        return logits

    def _canvas(
        self, length: int, suffix: list[int], generator: torch.Generator
    ) -> TokenCanvas:
        free: list[int | None] = [None] * length
        draft = [*self._case.draft[:length], *free][:length]
        return random_canvas(
            [*free, *suffix],
            vocab_size=self._backbone.shape.vocab_size,
            generator=generator,
            start=[*draft, *[None] * len(suffix)],
        )

    def _generator(self, seed: int) -> torch.Generator:
        return torch.Generator(self._backbone.device).manual_seed(seed)

    def _likeliest(self, written: Sequence[tuple[list[int], Any, Any]]) -> int:
        """Return which text and its end the backbone itself finds likeliest after the context."""
        texts = [[*self._before_end(ids), self._marks.end] for ids, _, _ in written]
        tensors = [torch.tensor(text, device=self._backbone.device) for text in texts]
        self._num_forwards += 1
        found = self._ask(_Pass(case=self._number, canvases=tensors, is_causal=True))
        scores = [
            float(logits[:-1].log_softmax(-1).gather(-1, ids[:, None]).sum())
            for logits, ids in zip(found, tensors, strict=True)
        ]
        return max(range(len(scores)), key=scores.__getitem__)

    def _before_end(self, ids: list[int]) -> list[int]:
        return ids[: ids.index(self._marks.end)] if self._marks.end in ids else ids

    def _left_to_right(self) -> FilledIds:
        """Write the likeliest token again and again, as the backbone itself does."""
        ids = torch.zeros(0, dtype=torch.long, device=self._backbone.device)
        confidences: list[float] = []
        entropy = 0.0
        while len(ids) < MAX_TOKENS:
            (logits,) = self._ask(_Pass(case=self._number, canvases=[ids], is_causal=True))
            last = self._healed(logits[-1:]) if not len(ids) else logits[-1:]
            probabilities = last.softmax(-1)[0]
            token = probabilities.argmax()
            ids = torch.cat([ids, token[None]])
            confidences.append(float(probabilities[token]))
            entropy += float(torch.special.entr(probabilities).sum())
            if int(token) == self._marks.end:
                break
        return FilledIds(
            ids=ids.tolist(),
            confidences=confidences,
            mean_entropy=entropy / len(ids),
            num_forwards=len(ids),
        )


def fill_all(
    filler: CaseFiller, cases: Sequence[CaseIds], arm: Arm, *, at_once: int
) -> list[FilledIds]:
    """Fill all cases, those with contexts of like lengths at once; answers in the cases' order."""
    order = sorted(range(len(cases)), key=lambda i: len(cases[i].context))
    found: dict[int, FilledIds] = {}
    for at in range(0, len(order), at_once):
        part = order[at : at + at_once]
        found.update(zip(part, filler.fill([cases[i] for i in part], arm), strict=True))
    return [found[i] for i in range(len(cases))]
