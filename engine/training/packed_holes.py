"""Holes as token ids in one safetensors file, which is mapped, not read.

Knows ids only: neither text nor how a hole is trained on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from intarsia.engine.filler import ModelError

_FORMAT = "intarsia packed holes 1"


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleIds:
    """One hole. ``group`` says what it comes from: holes held out for judging share no group with
    those trained on."""

    prefix: Sequence[int]
    middle: Sequence[int]
    suffix: Sequence[int]
    group: int


class PackedHoles:
    """All holes of a file, by number."""

    def __init__(self, tokens: Tensor, ends: Tensor, groups: Tensor) -> None:
        self._tokens = tokens  # (all,) int32: prefix, middle, suffix of each hole in turn
        self._ends = ends  # (holes, 3) int64: where each of the three ends
        self.groups = groups  # (holes,) int32

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> HoleIds:
        if not 0 <= number < len(self):
            raise IndexError(number)
        start = int(self._ends[number - 1, 2]) if number else 0
        prefix, middle, suffix = self._ends[number].tolist()
        return HoleIds(
            prefix=self._tokens[start:prefix].tolist(),
            middle=self._tokens[prefix:middle].tolist(),
            suffix=self._tokens[middle:suffix].tolist(),
            group=int(self.groups[number]),
        )

    @property
    def num_tokens(self) -> int:
        return len(self._tokens)

    def used_ids(self) -> Tensor:
        """Return the ids that occur, in order, (used,) int64."""
        return torch.unique(self._tokens).long()


def pack(holes: Iterable[HoleIds], path: Path, *, about: dict[str, str]) -> PackedHoles:
    """Write the holes to a file; ``about`` says where they come from."""
    tokens: list[np.ndarray] = []
    ends: list[tuple[int, int, int]] = []
    groups: list[int] = []
    at = 0
    for hole in holes:
        tokens += [np.array(part, dtype=np.int32) for part in (hole.prefix, hole.middle)]
        tokens.append(np.array(hole.suffix, dtype=np.int32))
        prefix = at + len(hole.prefix)
        middle = prefix + len(hole.middle)
        at = middle + len(hole.suffix)
        ends.append((prefix, middle, at))
        groups.append(hole.group)
    if not ends:
        raise ModelError("there is no hole to train on: give a corpus with more files")
    held = {
        "tokens": torch.from_numpy(np.concatenate(tokens)),
        "ends": torch.tensor(ends, dtype=torch.int64),
        "groups": torch.tensor(groups, dtype=torch.int32),
    }
    partial = path.with_name(f"{path.name}.partial")
    save_file(held, partial, metadata={**about, "format": _FORMAT})
    partial.replace(path)
    return PackedHoles(held["tokens"], held["ends"], held["groups"])


def read_packed(path: Path) -> PackedHoles:
    """Map a file of holes. Raises ModelError where it is none."""
    try:
        with safe_open(path, framework="pt") as file:
            if (file.metadata() or {}).get("format") != _FORMAT:
                raise ModelError(f"{path} holds no packed holes: make it with `intarsia train`")
            tokens, ends, groups = (file.get_tensor(it) for it in ("tokens", "ends", "groups"))
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path} cannot be read ({error}): pack the corpus again") from error
    return PackedHoles(tokens, ends, groups)
