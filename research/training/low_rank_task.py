"""What tasks that train a tuning share: its file."""

from pathlib import Path

from intarsia.research.training.adapter_file import load_tensors, save_tuning
from intarsia.research.training.low_rank_modules import LowRankModules
from intarsia.research.training.low_rank_pairs import LowRankPairs


class LowRankTask:
    """Holds the low-rank changes that are trained. ``strength`` is the share that is written."""

    def __init__(self, module: LowRankPairs | LowRankModules, strength: float) -> None:
        self._changes = module
        self._strength = strength

    def start_from(self, path: Path) -> None:
        """Load a tuning's file. Raises ModelError."""
        load_tensors(self._changes.named_tensors(), path)

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the tuning."""
        tensors = self._changes.named_tensors()
        save_tuning(tensors, path, metadata=metadata, strength=self._strength)
