"""How a training run reports what it is doing."""

from collections.abc import Callable
from typing import TypeAlias

ReportProgress: TypeAlias = Callable[[str, float | None], None]
"""Called with a description of the work, and the share done (None: unknown)."""
