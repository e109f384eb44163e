"""Where things are in this checkout, and which files are in it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"
HUMANEVAL = ROOT / "tests" / "data" / "human-eval-infilling"

PARTS = ("lsp", "workspace", "infill", "engine", "cli")
"""The folders of the package: ``intarsia.lsp`` is ``lsp/``, and so on."""


def modules(folder: str) -> list[Path]:
    """Return our own Python files below a folder, without those that are only data."""
    found = (ROOT / folder).rglob("*.py")
    return sorted(path for path in found if "samples" not in path.parts)
