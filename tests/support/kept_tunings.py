"""A tuning kept for a repository, without the work of training one."""

from pathlib import Path
from typing import Any

from intarsia.cli.train_repository import keep_tuning
from intarsia.lsp.engine.repository_tuning import Effect, KeptTuning


def keep_some(root: Path, weights: Path, **changes: Any) -> Path:
    effect = Effect(
        holes=10,
        exact_without=0.1,
        exact_with=0.2,
        mcnemar_p=1.0,
        similarity_without=0.5,
        similarity_with=0.6,
    )

    def about(name: str) -> KeptTuning:
        fields: dict[str, Any] = {
            "root": str(root.resolve()),
            "model": "base",
            "is_default_model": True,
            "tuning": name,
            "made": "2026-01-01T00:00:00+00:00",
            "intarsia": "0.1",
            "training_files": 20,
            "held_out_files": 3,
            "training_holes": 400,
            "training_holes_sha256": "0" * 64,
            "rank": 8,
            "seed": 0,
            "steps": 100,
            "seconds": 60.0,
            "effect": effect,
        }
        return KeptTuning(**(fields | changes))

    return keep_tuning(weights, root, about)
