"""The names of the adapters that a backbone may have."""

from typing import Literal, TypeAlias

AdapterKind: TypeAlias = Literal["draft", "edit"]
"""Whose low-rank changes act on the rows of a pass that are not frozen: the gated adapter's, which
drafts from masks, or the edit adapter's, which repeats an edit elsewhere."""
