"""Lays out training examples of edits as padded tensors: the window, then prompt and answer.

The window is known text, which the backbone reads without changes. Prompt and answer are the rows
that the edit adapter acts on; each sees the window and the rows before it. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimIds
from intarsia_research.training.holes.packed_holes import HoleIds

_COPY_WEIGHT = 0.3  # of a token that the lines to correct have too: most of the answer is copied


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EditBatch:
    """A few examples. Where ``targets`` is -1 nothing is predicted."""

    ids: Tensor  # (examples, length) long: the windows, padded at the end
    row_ids: Tensor  # (examples, rows) long: prompt and answer, padded at the end
    row_positions: Tensor  # (examples, rows) long
    row_num_visible: Tensor  # (examples, rows) long: the length of the window
    targets: Tensor  # (examples, rows) long: the next token of the answer, -1 elsewhere
    weights: Tensor  # (examples, rows) float
    is_changed: Tensor  # (examples,) bool: the answer differs from the lines to correct

    def to(self, device: torch.device) -> "EditBatch":
        """Return the batch on a device."""
        fields = {name: getattr(self, name).to(device) for name in self.__dataclass_fields__}
        return EditBatch(**fields)

    def sees_row(self) -> Tensor:
        """Return which rows each row sees (examples, rows, rows) bool: those before it."""
        examples, rows = self.row_ids.shape
        return (
            torch.ones(rows, rows, dtype=torch.bool, device=self.row_ids.device)
            .tril()
            .expand(examples, rows, rows)
        )


def lay_out_edits(examples: Sequence[HoleIds], fim: FimIds) -> EditBatch:
    """Return the batch: of an example the window is ``prefix``, the prompt ``given``, the answer
    ``middle``."""
    rows = [_rows_of(example, fim) for example in examples]
    length, num_rows = max(len(e.prefix) for e in examples), max(len(row.ids) for row in rows)

    def padded(lists: Sequence[Sequence[int]], size: int, padding: int) -> Tensor:
        return torch.tensor([[*one, *[padding] * (size - len(one))] for one in lists])

    windows = torch.tensor([len(example.prefix) for example in examples])
    return EditBatch(
        ids=padded([example.prefix for example in examples], length, fim.end),
        row_ids=padded([row.ids for row in rows], num_rows, fim.end),
        row_positions=windows[:, None] + torch.arange(num_rows),
        row_num_visible=windows[:, None].expand(-1, num_rows),
        targets=padded([row.targets for row in rows], num_rows, -1),
        weights=torch.tensor(
            [[*row.weights, *[0.0] * (num_rows - len(row.weights))] for row in rows]
        ),
        is_changed=torch.tensor([row.is_changed for row in rows]),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rows:
    ids: Sequence[int]
    targets: Sequence[int]
    weights: Sequence[float]
    is_changed: bool


def _rows_of(example: HoleIds, fim: FimIds) -> _Rows:
    prompt, answer = list(example.given), [*example.middle, fim.end]
    is_copied = [*_copied(_last_part(prompt), example.middle), True]
    num_before = len(prompt) - 1
    return _Rows(
        ids=[*prompt, *answer[:-1]],
        targets=[*[-1] * num_before, *answer],
        weights=[*[0.0] * num_before, *(_COPY_WEIGHT if it else 1.0 for it in is_copied)],
        is_changed=not all(is_copied),
    )


def _last_part(prompt: Sequence[int]) -> Sequence[int]:
    """Return the prompt from its last mark on, which is also its first token."""
    return prompt[len(prompt) - 1 - list(reversed(prompt)).index(prompt[0]) :]


def _copied(lines: Sequence[int], answer: Sequence[int]) -> list[bool]:
    """Return of each token of the answer whether it only goes on with the lines to correct.

    The token after a deletion is not copied: it has to be chosen. Before the lines and after them
    the prompt has words of its own.
    """
    is_copied = [False] * len(answer)
    matcher = SequenceMatcher(None, lines, answer, autojunk=False)
    for tag, _, _, start, end in matcher.get_opcodes():
        if tag == "equal":
            is_deletion_before = start > 0 and is_copied[start - 1]
            is_copied[start:end] = [True] * (end - start)
            is_copied[start] = not is_deletion_before
    return is_copied
