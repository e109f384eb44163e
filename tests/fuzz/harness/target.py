"""What a fuzz target is: a check that takes any bytes, and inputs to begin with.

A check returns for an input that the product takes or refuses as it should. It fails by an
assertion where the product differs from a reference, and by any other exception as a crash.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "targets"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One way into the product.

    ``weight`` is its share of a run's inputs, against those of the others: cheap checks run most.
    ``watched`` are the packages that the coverage-guided fuzzer counts branches in.
    """

    about: str
    check: Callable[[bytes], None]
    seeds: Sequence[bytes]
    watched: Sequence[str]
    weight: int
    max_bytes: int = 256


def target_names() -> list[str]:
    """Return the names of all targets: one file each."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def load_target(name: str) -> Target:
    """Import a target. Raises ModuleNotFoundError."""
    target = import_module(f"targets.{name}").TARGET
    assert isinstance(target, Target)
    return target
