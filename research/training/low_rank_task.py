"""Tunings trained on a corpus: they start from an earlier one, and are written at a strength."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimIds
from intarsia.engine.families.project_text import NO_PROJECT
from intarsia.training.batched_backbone import BatchedBackbone, UsedVocabulary
from intarsia.training.packed_holes import HoleIds
from intarsia.training.tuning_task import LowRankPairs, TuningTask, TuningTaskOptions, figures_of
from intarsia_research.training.low_rank_modules import LowRankModules
from intarsia_research.training.weights_file import load_tensors, save_tuning


class LowRankTask:
    """The file of a tuning that a task trains.

    ``strength``: the share that is written of what the run changes.
    """

    def __init__(self, module: LowRankPairs | LowRankModules, strength: float) -> None:
        self._changes = module
        self._strength = strength
        self._start: dict[str, Tensor] | None = None

    def start_from(self, path: Path) -> None:
        """Load a tuning's file. Raises ModelError."""
        tensors = self._changes.named_tensors()
        load_tensors(tensors, path)
        self._start = {name: tensor.detach().clone() for name, tensor in tensors.items()}

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the tuning."""
        tensors = self._changes.named_tensors()
        save_tuning(tensors, path, metadata=metadata, strength=self._strength, start=self._start)


class CorpusTuningTask(LowRankTask, TuningTask):
    """The low-rank tuning of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: BatchedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        options: TuningTaskOptions,
        *,
        strength: float = 1.0,
    ) -> None:
        TuningTask.__init__(self, backbone, fim, vocabulary, options)
        LowRankTask.__init__(self, self.module, strength)

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the figures of all holes.

        If some holes read code of other files, they have figures of their own (``project_…``), as
        have those holes without that code (``project_unread_…``) and all others (``alone_…``).
        """
        size = max(map(len, batches))
        holes = [hole for batch in batches for hole in batch]
        reading = [hole for hole in holes if hole.project]
        parts = {
            "alone": [hole for hole in holes if not hole.project],
            "project": reading,
            "project_unread": [replace(hole, project=NO_PROJECT) for hole in reading],
        }
        predicted = {name: self.predict_all(part, size) for name, part in parts.items()}
        figures = figures_of([*predicted["alone"], *predicted["project"]])
        if reading:
            for name, predictions in predicted.items():
                named = figures_of(predictions) if predictions else {}
                figures |= {f"{name}_{key}": value for key, value in named.items()}
        return figures
