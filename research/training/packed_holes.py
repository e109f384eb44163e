"""Holes as token ids: packed in one memory-mapped file, and laid out in the order of reading.

Knows neither the text nor how a hole is trained on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimIds,
)
from intarsia.engine.families.project_text import NO_PROJECT, ProjectIds
from intarsia_research.training.run_folder import write_tensors

_FORMAT = "intarsia packed holes 1"


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleIds:
    """One hole. Held-out holes share no ``group`` (a package or a file) with those trained on.

    ``given`` is known text between prefix and middle that the model reads after the suffix.
    ``project`` is code of other files, which it reads first.
    """

    prefix: Sequence[int]
    middle: Sequence[int]
    suffix: Sequence[int]
    group: int
    given: Sequence[int] = ()
    project: ProjectIds = NO_PROJECT

    def __len__(self) -> int:
        """Return the number of all ids, without the marks between the parts."""
        parts = (self.prefix, self.given, self.middle, self.suffix)
        return len(self.project) + sum(map(len, parts))


@dataclass(frozen=True, kw_only=True, slots=True)
class LaidOut:
    """All ids, and the indexes where the parts of the file begin or end."""

    ids: list[int]
    prefix_start: int  # after the mark, and what is read of other files
    prefix_end: int
    context_end: int  # with the suffix and its marks
    given_end: int


def lay_out(
    hole: HoleIds, fim: FimIds, max_prefix: int, max_suffix: int, max_middle: int
) -> LaidOut:
    """Return the hole after its context; its end mark follows if nothing of it is cut off.

    Of the hole and its file at most these numbers of tokens are shown, of other files all.
    """
    middle = list(hole.middle[:max_middle])
    is_whole = len(middle) == len(hole.middle)
    prefix = hole.prefix[-max_prefix:]
    start = [*hole.project.before_mark, fim.before_prefix, *hole.project.in_prefix]
    suffix = [fim.before_suffix, *hole.suffix[:max_suffix], fim.before_middle]
    context = [*start, *prefix, *suffix]
    return LaidOut(
        ids=[*context, *hole.given, *middle, *([fim.end] if is_whole else [])],
        prefix_start=len(start),
        prefix_end=len(start) + len(prefix),
        context_end=len(context),
        given_end=len(context) + len(hole.given),
    )


class PackedHoles:
    """All holes of a file, by index."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._tokens = tensors["tokens"]  # (all,) int32: each hole's parts, project first
        self._ends = tensors["ends"]  # (holes, 3) int64: where given, middle and suffix end
        self._num_given = tensors["num_given"]  # (holes,) int32
        self._num_project = tensors["num_project"]  # (holes, 2) int32: before the mark, in prefix
        self.groups = tensors["groups"]  # (holes,) int32

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> HoleIds:
        if not 0 <= index < len(self):
            raise IndexError(index)
        start = int(self._ends[index - 1, 2]) if index else 0
        given, middle, suffix = self._ends[index].tolist()
        prefix = given - int(self._num_given[index])
        num_before, num_in_prefix = self._num_project[index].tolist()
        mark, project = start + num_before, start + num_before + num_in_prefix
        return HoleIds(
            prefix=self._tokens[project:prefix].tolist(),
            middle=self._tokens[given:middle].tolist(),
            suffix=self._tokens[middle:suffix].tolist(),
            group=int(self.groups[index]),
            given=self._tokens[prefix:given].tolist(),
            project=ProjectIds(
                before_mark=self._tokens[start:mark].tolist(),
                in_prefix=self._tokens[mark:project].tolist(),
            )
            if project > start
            else NO_PROJECT,
        )

    def used_ids(self) -> Tensor:
        """Return the ids that occur, ascending, (used,) int64."""
        used: Tensor = torch.unique(self._tokens)
        return used.long()

    def commonest_ids(self, num: int) -> Tensor:
        """Return up to ``num`` ids that occur most often, (ids,) int64."""
        ids, counts = torch.unique(self._tokens, return_counts=True)
        commonest: Tensor = ids[counts.argsort(descending=True, stable=True)[:num]]
        return commonest.long()


def pack(holes: Iterable[HoleIds], path: Path, *, metadata: dict[str, str]) -> PackedHoles:
    """Write the holes to a file; ``metadata`` goes into its header. Raises ModelError for none."""
    tokens: list[np.ndarray] = []
    ends: list[tuple[int, int, int]] = []
    groups: list[int] = []
    num_given: list[int] = []
    num_project: list[tuple[int, int]] = []
    end = 0
    for hole in holes:
        project = (hole.project.before_mark, hole.project.in_prefix)
        parts = (*project, hole.prefix, hole.given, hole.middle, hole.suffix)
        tokens += [np.array(part, dtype=np.int32) for part in parts]
        given = end + len(hole.project) + len(hole.prefix) + len(hole.given)
        middle = given + len(hole.middle)
        end = middle + len(hole.suffix)
        ends.append((given, middle, end))
        groups.append(hole.group)
        num_given.append(len(hole.given))
        num_project.append((len(project[0]), len(project[1])))
    if not ends:
        raise ModelError("there is no hole to train on: give a corpus with more files")
    tensors = {
        "tokens": torch.from_numpy(np.concatenate(tokens)),
        "ends": torch.tensor(ends, dtype=torch.int64),
        "groups": torch.tensor(groups, dtype=torch.int32),
        "num_given": torch.tensor(num_given, dtype=torch.int32),
        "num_project": torch.tensor(num_project, dtype=torch.int32),
    }
    write_tensors(tensors, path, {**metadata, "format": _FORMAT})
    return PackedHoles(tensors)


def read_packed(path: Path, *, metadata: Mapping[str, str] | None = None) -> PackedHoles:
    """Map a file of holes. Raises ModelError if it is not such a file, or has other ``metadata``.

    What the file's header does not have may be anything.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            if header.get("format") != _FORMAT:
                raise ModelError(f"{path} has no packed holes: delete it and train again")
            if any(header.get(name, value) != value for name, value in (metadata or {}).items()):
                raise ModelError(f"{path} was drawn with other settings: name another folder")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, KeyError) as error:
        raise ModelError(f"{path} cannot be read ({error}): delete it and train again") from error
    return PackedHoles(tensors)
