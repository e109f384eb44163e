"""Keep contexts on disk, and restore the longest kept beginning of a new one.

A context is kept as *blocks* of 64 tokens. The digest of all tokens up to a block's end is its
name. So contexts with a common beginning share their first blocks, which are written once. A
*record* per context holds its token ids and its last hidden state. Any file may be missing or
damaged: then less is restored, and what is damaged is removed.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from intarsia.engine.cache.kept_files import KeptFiles
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.context_store.tensor_file import (
    DamagedFileError,
    from_file,
    to_file,
)
from intarsia.engine.fill_control import NO_CONTROL, FillControl

BLOCK_TOKENS = 64
MIN_NEW_TOKENS = 32
"""A context is kept again only if this many of its tokens are in no kept one: reading fewer again
takes no longer than a few keys."""

_MAX_VARIANTS = 4  # kept contexts that share half of their tokens: places and states of one file
_BLOCK, _RECORD, _SUFFIX = "block-", "context-", ".safetensors"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Record:
    """A kept context."""

    ids: NDArray[np.int32]
    blocks: tuple[str, ...]  # digests, first block first

    @property
    def name(self) -> str:
        return f"{_RECORD}{self.blocks[-1]}{_SUFFIX}"


class ContextStore:
    """The kept contexts of one identity (see ``identity.py``), for one thread.

    No error of the disk leaves it: contexts are then read again, as without a store.
    """

    def __init__(self, files: KeptFiles, identity: str) -> None:
        self._files = files
        self._identity = identity
        self._has_warned = False
        self._has_grown = False  # since the limits were kept last
        self._records: list[_Record] = []  # least recently used first
        self._written: set[str] = set()  # by this store: what was put out is not written again
        try:
            files.trim()
            for name in files.names(f"{_RECORD}*"):
                self._records += self._read(name)
        except OSError as error:
            self._warn("cannot be read", error)

    def contexts(self) -> list[list[int]]:
        """Return the ids of all kept contexts, least recently used first."""
        return [record.ids.tolist() for record in self._records]

    def num_kept(self, context: Sequence[int]) -> int:
        """Return how many of a context's first tokens are kept, as far as is known."""
        ids = np.asarray(context, np.int32)
        return max((_num_shared(ids, record.ids) for record in self._records), default=0)

    def restore(
        self, context: Sequence[int], cache: KvCache, control: FillControl = NO_CONTROL
    ) -> int:
        """Fill an empty cache with the longest kept beginning of a context; return its length.

        Raises Cancelled between two blocks. Other fills may run there, and change this store.
        """
        ids = np.asarray(context, np.int32)
        best = max(self._records, key=lambda record: _num_shared(ids, record.ids), default=None)
        if best is None:
            return 0
        num_shared = _num_shared(ids, best.ids)
        num_blocks = -(-num_shared // BLOCK_TOKENS)
        cache.reserve(num_shared)
        try:
            for i in range(num_blocks):
                if i:
                    control.checkpoint()
                self._restore_block(best, i, num_shared, cache)
            if num_shared == len(best.ids):
                self._restore_end(best, cache)
        except (OSError, DamagedFileError) as error:
            _log.info("a kept context is incomplete: %s", error)
            self._written.discard(best.name)
            self._drop([best])
        else:
            if best in self._records:
                self._records.remove(best)
                self._records.append(best)
            self._touch(best, num_blocks)
        return len(cache)

    def keep(self, contexts: Sequence[tuple[KvCache, int]], control: FillControl) -> None:
        """Keep contexts, most recently used first: of each cache this number of its tokens.

        The newest state of each file is written before older ones, as time may be short. Contexts
        with few tokens that are not kept yet are left out. Raises Cancelled between two blocks;
        what is written by then need not be written again.
        """
        try:
            self._keep_all(contexts, control)
        finally:
            self._trim()

    def _keep_all(self, contexts: Sequence[tuple[KvCache, int]], control: FillControl) -> None:
        num_written = 0
        found = [(np.asarray(cache.ids[:length], np.int32), cache) for cache, length in contexts]
        try:
            for ids, cache in _newest_of_each_file_first(found):
                num_written += self._keep(ids, cache, num_written, control)
        except OSError as error:
            self._warn("cannot be written", error)
        finally:  # the newest were written first, and must not be the first to be removed
            for record in self._records[len(self._records) - num_written :]:
                self._touch(record, len(record.blocks))

    def _trim(self) -> None:
        """Keep the limits if anything was written since they were kept last."""
        if self._has_grown:
            self._has_grown = False
            self._files.trim()

    def _keep(
        self, ids: NDArray[np.int32], cache: KvCache, num_newer: int, control: FillControl
    ) -> bool:
        """Keep these tokens as the last context but ``num_newer``; return whether it is new."""
        record = _Record(ids=ids, blocks=tuple(_digests(ids)))
        num_kept = max((_num_shared(ids, other.ids) for other in self._records), default=0)
        if len(ids) - num_kept < MIN_NEW_TOKENS or record.name in self._written:
            return False
        for i, block in enumerate(record.blocks):
            self._keep_block(block, i, cache, len(ids), control)
        hidden = cache.last_hidden(len(ids))
        end = {} if hidden is None else {"hidden": hidden}
        self._write(record.name, {"ids": torch.from_numpy(ids), **end})
        self._written.add(record.name)
        self._records.insert(len(self._records) - num_newer, record)
        similar = [other for other in self._records if _is_similar(ids, other.ids)]
        self._drop(similar[:-_MAX_VARIANTS])
        return True

    def _restore_block(self, record: _Record, i: int, num_needed: int, cache: KvCache) -> None:
        tensors = self._load(f"{_BLOCK}{record.blocks[i]}{_SUFFIX}")
        start = i * BLOCK_TOKENS
        ids = record.ids[start : min(num_needed, start + BLOCK_TOKENS)].tolist()
        try:
            keys, values = (tensors[part][:, :, : len(ids)] for part in ("keys", "values"))
            cache.append(ids, keys, values)
        except (KeyError, IndexError, RuntimeError) as error:
            raise DamagedFileError(f"a block does not fit the model: {error}") from error

    def _restore_end(self, record: _Record, cache: KvCache) -> None:
        hidden = self._load(record.name).get("hidden")
        if hidden is not None:
            cache.keep_last_hidden(hidden.to(cache.device))

    def _keep_block(
        self, block: str, i: int, cache: KvCache, length: int, control: FillControl
    ) -> None:
        name = f"{_BLOCK}{block}{_SUFFIX}"
        if self._files.path(name).exists():
            return
        control.checkpoint()
        start = i * BLOCK_TOKENS
        keys, values = cache.rows(start, min(length, start + BLOCK_TOKENS))
        self._write(name, {"keys": keys, "values": values})

    def _drop(self, records: Sequence[_Record]) -> None:
        """Forget records, and remove the blocks that no other one needs."""
        self._records = [record for record in self._records if record not in records]
        needed = {block for record in self._records for block in record.blocks}
        self._files.remove(record.name for record in records)
        unneeded = {block for record in records for block in record.blocks} - needed
        self._files.remove(f"{_BLOCK}{block}{_SUFFIX}" for block in unneeded)

    def _touch(self, record: _Record, num_blocks: int) -> None:
        """Note that a record was used. Its first blocks, which others share, are removed last."""
        blocks = [f"{_BLOCK}{block}{_SUFFIX}" for block in reversed(record.blocks[:num_blocks])]
        self._files.touch([*blocks, record.name])

    def _read(self, name: str) -> list[_Record]:
        """Return the record in a file; none, and no file, if it is damaged."""
        try:
            ids = self._load(name)["ids"]
            if ids.dtype != torch.int32 or ids.dim() != 1 or not len(ids):
                raise DamagedFileError(f"{name} has no token ids")
            record = _Record(ids=ids.numpy(), blocks=tuple(_digests(ids.numpy())))
            if record.name != name:
                raise DamagedFileError(f"{name} has the ids of another context")
            return [record]
        except (OSError, DamagedFileError, KeyError) as error:
            _log.info("removed a kept context: %s", error)
            self._files.remove([name])
            return []

    def _load(self, name: str) -> dict[str, Tensor]:
        try:
            return from_file(self._key(name), self._files.path(name))
        except DamagedFileError:
            self._files.remove([name])
            raise

    def _write(self, name: str, tensors: dict[str, Tensor]) -> None:
        self._has_grown = True
        self._files.write(name, to_file(self._key(name), tensors))

    def _key(self, name: str) -> str:
        return f"{self._identity}/{name}"

    def _warn(self, what: str, error: OSError) -> None:
        if not self._has_warned:
            _log.warning(
                "contexts are not kept for the next start: %s %s (%s)",
                self._files.folder,
                what,
                error.strerror or error,
            )
        self._has_warned = True


def _num_shared(first: NDArray[np.int32], second: NDArray[np.int32]) -> int:
    """Return how many leading ids both have."""
    length = min(len(first), len(second))
    differs = first[:length] != second[:length]
    return int(differs.argmax()) if differs.any() else length


def _newest_of_each_file_first(
    found: Sequence[tuple[NDArray[np.int32], KvCache]],
) -> list[tuple[NDArray[np.int32], KvCache]]:
    """Order contexts, given most recently used first, and leave out a file's oldest states."""
    num_newer = [
        sum(_is_similar(ids, other) for other, _ in found[:i]) for i, (ids, _) in enumerate(found)
    ]
    return [
        context
        for number in range(_MAX_VARIANTS)
        for context, num in zip(found, num_newer, strict=True)
        if num == number
    ]


def _is_similar(first: NDArray[np.int32], second: NDArray[np.int32]) -> bool:
    """Tell whether two contexts share half of their tokens: they may be of one file."""
    return 2 * _num_shared(first, second) >= min(len(first), len(second))


def _digests(ids: NDArray[np.int32]) -> list[str]:
    """Return a digest for each block: of all ids up to its end."""
    digest, names = hashlib.sha256(), []
    for start in range(0, len(ids), BLOCK_TOKENS):
        digest.update(ids[start : start + BLOCK_TOKENS].astype("<i4").tobytes())
        names.append(digest.hexdigest()[:32])
    return names
