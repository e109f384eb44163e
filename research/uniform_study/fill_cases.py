"""Fills encoded cases with a uniform-state backbone, many at once.

Cases and answers are token ids: this runs where there is neither a tokenizer nor text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.length import suffix_surprise
from intarsia_research.training.uniform_causal_backbone import (
    ReadContexts,
    UniformCausalBackbone,
    UniformChanges,
)
from intarsia_research.training.uniform_causal_rows import IGNORED, CanvasRows
from intarsia_research.uniform_study.arms import Arm
from intarsia_research.uniform_study.denoise_many import DenoisedIds, denoise_many

MAX_TOKENS = 64
"""Of a hole, in every arm: training showed no longer ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseIds:
    """A case: what is read before the hole, what follows it, and the number of its start.

    A ``draft`` is what the canvas begins with, in place of noise.
    """

    name: str
    context: Sequence[int]
    suffix: Sequence[int]
    truth: Sequence[int]
    start: int | None = None  # None: any text
    draft: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StartIds:
    """The tokens that may come first, and after some of them the start of what follows."""

    ids: Sequence[int]
    then: Mapping[int, int]


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


class CaseFiller:
    """Fills cases in batches."""

    def __init__(
        self,
        backbone: UniformCausalBackbone,
        changes: UniformChanges,
        marks: Marks,
        *,
        num_pinned: int,
        starts: Sequence[StartIds] = (),
        seed: int = 0,
    ) -> None:
        self._backbone, self._changes, self._marks = backbone, changes, marks
        self._num_pinned, self._seed, self._starts = num_pinned, seed, starts
        size = (len(starts), backbone.shape.vocab_size)
        self._may_start = torch.zeros(size, dtype=torch.bool, device=backbone.device)
        for number, start in enumerate(starts):
            self._may_start[number, torch.tensor(start.ids, device=backbone.device)] = True

    @torch.inference_mode()
    def fill(self, cases: Sequence[CaseIds], arm: Arm) -> list[FilledIds]:
        """Return the answers to all cases."""
        batch = _Batch(
            self._backbone, cases, self._backbone.prefill([c.context[:-1] for c in cases])
        )
        if arm.length == "left_to_right":
            return self._left_to_right(batch, arm)
        lengths, num_before = self._lengths(batch, arm)
        tries = [
            self._denoise(batch, arm, [each[n] for each in lengths], seed)
            for n in range(len(lengths[0]))
            for seed in range(self._seed, self._seed + 1000 * arm.num_seeds, 1000)
        ]
        return self._chosen(batch, tries, num_before)

    def _lengths(self, batch: "_Batch", arm: Arm) -> tuple[list[list[int]], int]:
        """Return the lengths of each case, best first, and the passes that chose them."""
        cases = batch.cases
        if arm.length == "oracle":
            return [[max(1, min(len(case.truth), MAX_TOKENS))] for case in cases], 0
        if arm.length == "free":
            return [[arm.free_length]] * len(cases), 0
        candidates = candidate_lengths(MAX_TOKENS)
        surprises: list[list[float]] = [[] for _ in cases]
        for length in candidates:
            canvases = [
                self._canvas(case, length, self._generator(self._seed), is_pinned=True)
                for case in cases
            ]
            logits = batch.logits([canvas.ids for canvas in canvases], self._changes)
            for row, canvas in enumerate(canvases):
                surprises[row].append(suffix_surprise(logits[row, : len(canvas)], canvas))
            del logits
        ranked = [
            [candidates[i] for i in sorted(range(len(candidates)), key=each.__getitem__)]
            for each in surprises
        ]
        return [each[: arm.num_lengths] for each in ranked], 1  # one pass could hold them all

    def _denoise(
        self, batch: "_Batch", arm: Arm, lengths: Sequence[int], seed: int
    ) -> list[DenoisedIds]:
        generators = [self._generator(seed) for _ in batch.cases]
        is_pinned = arm.length != "free"
        canvases = [
            self._canvas(case, length, generator, is_pinned=is_pinned)
            for case, length, generator in zip(batch.cases, lengths, generators, strict=True)
        ]
        starts = [case.start if arm.heals else None for case in batch.cases]
        sizes = torch.tensor([len(canvas) for canvas in canvases], device=self._backbone.device)

        def predict(which: Tensor, ids: Tensor, predicted: Tensor | None) -> Tensor:
            part = batch.chosen(which)
            logits = part.logits(ids, self._changes, predicted, lengths=sizes[which])[:, :-1]
            return self._healed(logits, [starts[n] for n in which.tolist()])

        denoised = denoise_many(
            predict,
            self._backbone.mean_of,
            canvases,
            generators,
            arm,
            vocab_size=self._backbone.shape.vocab_size,
            end_id=self._marks.end,
        )
        return [
            replace(
                one,
                ids=one.ids[:length],
                confidences=one.confidences[:length],
                entropies=one.entropies[:length],
            )
            for one, length in zip(denoised, lengths, strict=True)
        ]

    def _healed(self, logits: Tensor, starts: Sequence[int | None]) -> Tensor:
        """Let only what continues the half-typed text come first."""
        rows = [row for row, start in enumerate(starts) if start is not None]
        if not rows:
            return logits
        allowed = self._may_start[[starts[row] for row in rows]]
        logits[rows, 0] = logits[rows, 0].masked_fill(~allowed, -torch.inf)
        first = logits[rows, 0].argmax(-1).tolist()
        for row, token in zip(rows, first, strict=True):
            then = self._starts[starts[row] or 0].then.get(token)
            if then is not None and logits.shape[1] > 1:
                logits[row, 1].masked_fill_(~self._may_start[then], -torch.inf)
        return logits

    def _canvas(
        self, case: CaseIds, length: int, generator: Generator, *, is_pinned: bool
    ) -> TokenCanvas:
        suffix = list(case.suffix[: self._num_pinned]) if is_pinned else []
        free: list[int | None] = [None] * length
        draft = [*case.draft[:length], *free][:length]
        return random_canvas(
            [*free, *suffix],
            vocab_size=self._backbone.shape.vocab_size,
            generator=generator,
            start=[*draft, *[None] * len(suffix)],
        )

    def _generator(self, seed: int) -> Generator:
        return Generator(self._backbone.device).manual_seed(seed)

    def _chosen(
        self, batch: "_Batch", tries: Sequence[Sequence[DenoisedIds]], num_before: int
    ) -> list[FilledIds]:
        """Return of each case the text that the backbone itself finds likeliest, with its end."""
        best = [0] * len(batch.cases)
        if len(tries) > 1:
            scores = torch.tensor([self._likelihoods(batch, one) for one in tries])
            best = scores.argmax(dim=0).tolist()
        num_judged = int(len(tries) > 1)  # one pass could hold all texts of a case
        answers = []
        for row, choice in enumerate(best):
            one = tries[choice][row]
            answers.append(
                FilledIds(
                    ids=one.ids,
                    confidences=one.confidences,
                    mean_entropy=sum(one.entropies) / len(one.entropies),
                    num_forwards=num_before
                    + num_judged
                    + sum(each[row].num_forwards for each in tries),
                )
            )
        return answers

    def _likelihoods(self, batch: "_Batch", texts: Sequence[DenoisedIds]) -> list[float]:
        end = self._marks.end
        written = [
            [*(one.ids[: one.ids.index(end)] if end in one.ids else one.ids), end] for one in texts
        ]
        logits = batch.logits(written, None)
        return [
            float(
                logits[row, : len(ids)]
                .log_softmax(-1)
                .gather(-1, torch.tensor(ids, device=logits.device)[:, None])
                .sum()
            )
            for row, ids in enumerate(written)
        ]

    def _left_to_right(self, batch: "_Batch", arm: Arm) -> list[FilledIds]:
        """Write the likeliest token again and again, as the backbone itself does."""
        cases = batch.cases
        written: list[list[int]] = [[] for _ in cases]
        confidences: list[list[float]] = [[] for _ in cases]
        entropies = [0.0] * len(cases)
        left = list(range(len(cases)))
        for _ in range(MAX_TOKENS):
            part = batch.chosen(torch.tensor(left, device=self._backbone.device))
            logits = part.logits([written[n] for n in left], None)[:, -1:]
            if not written[left[0]]:
                logits = self._healed(logits, [cases[n].start if arm.heals else None for n in left])
            probabilities = logits[:, 0].softmax(-1)
            best = probabilities.max(-1)
            entropy = torch.special.entr(probabilities).sum(-1).tolist()
            tokens = best.indices.tolist()
            for n, token, confidence, nats in zip(
                left, tokens, best.values.tolist(), entropy, strict=True
            ):
                written[n].append(token)
                confidences[n].append(confidence)
                entropies[n] += nats
            left = [n for n in left if written[n][-1] != self._marks.end]
            if not left:
                break
        return [
            FilledIds(
                ids=written[n],
                confidences=confidences[n],
                mean_entropy=entropies[n] / len(written[n]),
                num_forwards=len(written[n]),
            )
            for n in range(len(cases))
        ]


class _Batch:
    """Cases and their contexts, read."""

    def __init__(
        self, backbone: UniformCausalBackbone, cases: Sequence[CaseIds], read: ReadContexts
    ) -> None:
        self.cases, self._backbone, self._read = cases, backbone, read

    def chosen(self, which: Tensor) -> "_Batch":
        """Return a part of the cases."""
        if len(which) == len(self.cases):
            return self
        cases = [self.cases[n] for n in which.tolist()]
        return _Batch(self._backbone, cases, self._read.chosen(which))

    def logits(
        self,
        canvases: Tensor | Sequence[Tensor] | Sequence[Sequence[int]],
        changes: UniformChanges | None,
        predicted: Tensor | None = None,
        *,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """Return logits (cases, 1 + length, vocab): row i predicts the canvas's token i.

        ``canvases``: ids, or (cases, length) of these ``lengths`` (cases,). ``predicted`` (cases,
        length, hidden): mean embeddings of the step before.
        """
        device = self._backbone.device
        if lengths is None:
            lengths = torch.tensor([len(ids) for ids in canvases], device=device)
        length = canvases.shape[1] if isinstance(canvases, Tensor) else int(lengths.max())
        ids = torch.zeros((len(canvases), 1 + length), dtype=torch.long, device=device)
        ids[:, 0] = torch.tensor([case.context[-1] for case in self.cases], device=device)
        if isinstance(canvases, Tensor):
            ids[:, 1:] = canvases
        else:
            for row, given in enumerate(canvases):
                ids[row, 1 : 1 + len(given)] = torch.as_tensor(given, device=device)
        places = torch.arange(1 + length, device=device)
        rows = CanvasRows(
            ids=ids,
            positions=self._read.num[:, None] + places,
            canvas=torch.where(places <= lengths[:, None], 0, IGNORED),
            targets=ids,
            weights=ids,
            is_needed=ids,
        )
        if predicted is not None:
            predicted = torch.cat([torch.zeros_like(predicted[:, :1]), predicted], dim=1)
        hidden = self._backbone.forward_rows(rows, self._read, changes, predicted)
        return self._backbone.logits(hidden)
