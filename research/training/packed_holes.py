"""Holes as token ids in one memory-mapped safetensors file.

Knows neither the text nor how a hole is trained on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from intarsia.engine.errors import ModelError

_FORMAT = "intarsia packed holes 1"


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleIds:
    """One hole. Held-out holes share no ``group`` (a package or a file) with those trained on.

    ``given`` is known text between prefix and middle that the model reads after the suffix.
    """

    prefix: Sequence[int]
    middle: Sequence[int]
    suffix: Sequence[int]
    group: int
    given: Sequence[int] = ()


class PackedHoles:
    """All holes of a file, by index."""

    def __init__(self, tokens: Tensor, ends: Tensor, groups: Tensor, num_given: Tensor) -> None:
        self._tokens = tokens  # (all,) int32: each hole's prefix, given, middle, suffix
        self._ends = ends  # (holes, 3) int64: where given, middle and suffix end
        self._num_given = num_given  # (holes,) int32
        self.groups = groups  # (holes,) int32

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> HoleIds:
        if not 0 <= index < len(self):
            raise IndexError(index)
        start = int(self._ends[index - 1, 2]) if index else 0
        given, middle, suffix = self._ends[index].tolist()
        prefix = given - int(self._num_given[index])
        return HoleIds(
            prefix=self._tokens[start:prefix].tolist(),
            middle=self._tokens[given:middle].tolist(),
            suffix=self._tokens[middle:suffix].tolist(),
            group=int(self.groups[index]),
            given=self._tokens[prefix:given].tolist(),
        )

    @property
    def num_tokens(self) -> int:
        return len(self._tokens)

    def used_ids(self) -> Tensor:
        """Return the ids that occur, ascending, (used,) int64."""
        used: Tensor = torch.unique(self._tokens)
        return used.long()


def pack(holes: Iterable[HoleIds], path: Path, *, metadata: dict[str, str]) -> PackedHoles:
    """Write the holes to a file; ``metadata`` goes into its header. Raises ModelError for none."""
    tokens: list[np.ndarray] = []
    ends: list[tuple[int, int, int]] = []
    groups: list[int] = []
    num_given: list[int] = []
    end = 0
    for hole in holes:
        parts = (hole.prefix, hole.given, hole.middle, hole.suffix)
        tokens += [np.array(part, dtype=np.int32) for part in parts]
        given = end + len(hole.prefix) + len(hole.given)
        middle = given + len(hole.middle)
        end = middle + len(hole.suffix)
        ends.append((given, middle, end))
        groups.append(hole.group)
        num_given.append(len(hole.given))
    if not ends:
        raise ModelError("there is no hole to train on: give a corpus with more files")
    tensors = {
        "tokens": torch.from_numpy(np.concatenate(tokens)),
        "ends": torch.tensor(ends, dtype=torch.int64),
        "groups": torch.tensor(groups, dtype=torch.int32),
        "num_given": torch.tensor(num_given, dtype=torch.int32),
    }
    partial = path.with_name(f"{path.name}.partial")
    save_file(tensors, partial, metadata={**metadata, "format": _FORMAT})
    partial.replace(path)
    return PackedHoles(tensors["tokens"], tensors["ends"], tensors["groups"], tensors["num_given"])


def read_packed(path: Path) -> PackedHoles:
    """Map a file of holes. Raises ModelError if it is not such a file."""
    try:
        with safe_open(path, framework="pt") as file:
            if (file.metadata() or {}).get("format") != _FORMAT:
                raise ModelError(f"{path} has no packed holes: delete it and train again")
            tokens, ends, groups = map(file.get_tensor, ("tokens", "ends", "groups"))
            has_given = "num_given" in file.keys()  # noqa: SIM118
            num_given = file.get_tensor("num_given") if has_given else torch.zeros_like(groups)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path} cannot be read ({error}): delete it and train again") from error
    return PackedHoles(tokens, ends, groups, num_given)
