"""A canvas pass as a CUDA graph, which launches its thousands of kernels at once.

One by one they take longer to launch than to run: ``docs/diffusiongemma.md`` has the times. A graph
holds the addresses of all that it reads, so it serves one context and one length of canvas.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.families.device import free_bytes

Pass: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Ids (canvases, length), logits of the last step (canvases, length, vocab) → new logits."""

Record: TypeAlias = Callable[[Pass, Tensor, Tensor], Pass | None]
"""A pass and inputs of the shape that it will have → the recorded pass, None without room."""

_ROOM = 32  # bytes a logit; on an H200 a recorded pass held 15 to 22
_log = logging.getLogger(__name__)


class CanvasGraph:
    """Records a pass when it is made a second time, and replays it from then on.

    ``run`` may read nothing else that changes before ``forget``. It makes the first pass of a
    shape, which loads kernels, and all passes where recording failed: ``fault`` says why.
    """

    def __init__(self, run: Pass, record: Record) -> None:
        self.fault: str | None = None
        self._run = run
        self._record = record
        self.forget()

    def forget(self) -> None:
        """Let go of the recorded pass and its memory."""
        self._replay: Pass | None = None
        self._shape: torch.Size | None = None

    def __call__(self, ids: Tensor, logits: Tensor) -> Tensor:
        """Return the logits of a pass, by whichever way."""
        if ids.shape != self._shape:
            self.forget()
            self._shape = ids.shape
        elif self._replay is None and self.fault is None:
            self._try_to_record(ids, logits)
        return (self._replay or self._run)(ids, logits)

    def check(self, vocab_size: int, device: torch.device, length: int) -> None:
        """Compare replays with passes; where they are not the same to the bit, use none."""
        random = torch.Generator(device).manual_seed(0)
        for _ in range(3):  # an ordinary pass, the recorded one, and a replay
            ids = torch.randint(vocab_size, (1, length), generator=random, device=device)
            logits = torch.randn(1, length, vocab_size, generator=random, device=device)
            if not torch.equal(self(ids, logits), self._run(ids, logits)) and self.fault is None:
                self._give_up("a replay differs from the pass")
        if self._replay is None and self.fault is None:
            self._give_up("no memory is left for one")
        self.forget()

    def _try_to_record(self, ids: Tensor, logits: Tensor) -> None:
        try:
            self._replay = self._record(self._run, ids, logits)
        except Exception as error:  # noqa: BLE001 - whatever a card lacks, the fill goes on
            self._give_up(" ".join(f"{type(error).__name__}: {error}".split())[:200])

    def _give_up(self, fault: str) -> None:
        self.fault, self._replay = fault, None
        _log.warning("CUDA graphs are not used: %s", fault)


def record_on_card(run: Pass, ids: Tensor, logits: Tensor) -> Pass | None:
    """Record a pass on a CUDA device. Raises what torch raises where that is not possible."""
    if _free(ids.device) < _ROOM * logits.numel():
        return None
    kept_ids, kept_logits = ids.clone(), logits.clone()
    graph, pool = torch.cuda.CUDAGraph(), torch.cuda.graph_pool_handle()
    try:
        # The first one restores the stream, as torch does not after a failed recording. Other
        # threads of the engine may ask the card for something meanwhile.
        with (
            torch.cuda.stream(torch.cuda.current_stream()),
            torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"),
        ):
            out = run(kept_ids, kept_logits)
    except Exception:
        _end_recording(ids.device, pool)
        raise

    def replay(ids: Tensor, logits: Tensor) -> Tensor:
        kept_ids.copy_(ids)
        kept_logits.copy_(logits)
        graph.replay()
        return out.clone()

    return replay


def _end_recording(device: torch.device, pool: tuple[int, int]) -> None:
    """Do what torch leaves out after a failed recording, else it frees no cached memory again."""
    with suppress(RuntimeError):  # nothing was left out
        torch._C._cuda_endAllocateToPool(device.index, pool)
        torch._C._cuda_releasePool(device.index, pool)


def _free(device: torch.device) -> int:
    """Return the bytes that torch can still get: what it keeps for itself is given back before."""
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return free_bytes(device) + kept
