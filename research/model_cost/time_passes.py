"""Time passes of a causal backbone, which is loaded without an engine.

Imports torch; ``pass_cost.py`` is the program that calls it.
"""

import time
from statistics import median

import psutil

from intarsia.engine.config import Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.load import conversion_for, load_backbone
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.model_store.locate import locate_model
from intarsia_research.model_cost.pass_cost import PassFigures

NUM_CONTEXT = 1024
NUM_ROWS = (1, 8, 16, 32, 64)

_NUM_READS = 3


def time_passes(model: str, dtype: Dtype, repeats: int) -> PassFigures:
    """Load the model and time its passes. Raises ModelError."""
    started = time.perf_counter()
    backbone = _load(model, dtype)
    load_s = time.perf_counter() - started
    loaded_bytes = _resident_bytes()
    read_ms = min(_time_read(backbone) for _ in range(_NUM_READS))
    pass_ms = _time_all(backbone, repeats)
    return PassFigures(
        model=model,
        context_tokens=NUM_CONTEXT,
        repeats=repeats,
        pass_ms=pass_ms,
        read_ms=read_ms,
        load_s=load_s,
        loaded_bytes=loaded_bytes,
        working_bytes=_resident_bytes(),
    )


def _load(model: str, dtype: Dtype) -> CausalBackbone:
    folder = locate_model(
        model,
        lambda stage, fraction: None,
        rows_tuned_by=rows_tuned_by,
        conversion=conversion_for(dtype, "auto"),
    )
    if folder.family != "masked_causal":
        raise ModelError(f"{folder.name} is not a causal backbone: name one with `--model`")
    shape = read_shape(folder.config)
    return load_backbone(folder, shape, dtype, drafter=folder.drafter).backbone


def _time_all(backbone: CausalBackbone, repeats: int) -> dict[int, float]:
    """Alternate between the sizes, so that all meet the machine in the same state."""
    cache = _read_context(backbone)
    for num_rows in NUM_ROWS:
        _time_pass(backbone, cache, num_rows)  # the first pass of a size also allocates
    times = [[_time_pass(backbone, cache, n) for n in NUM_ROWS] for _ in range(repeats)]
    return {n: median(row[i] for row in times) for i, n in enumerate(NUM_ROWS)}


def _read_context(backbone: CausalBackbone) -> KvCache:
    """Fill a cache; any tokens cost the same."""
    cache = backbone.new_cache()
    for start in range(0, NUM_CONTEXT, backbone.chunk_tokens):
        ids = list(range(start, min(start + backbone.chunk_tokens, NUM_CONTEXT)))
        backbone.forward(frozen_rows(ids, start=start), cache)
        cache.commit(ids)
    return cache


def _time_read(backbone: CausalBackbone) -> float:
    """Return the milliseconds of reading the context."""
    started = time.perf_counter()
    _read_context(backbone)
    return (time.perf_counter() - started) * 1000


def _time_pass(backbone: CausalBackbone, cache: KvCache, num_rows: int) -> float:
    """Return the milliseconds of a pass over this many tokens."""
    started = time.perf_counter()
    rows = frozen_rows([0] * num_rows, start=len(cache))
    predicted = backbone.logits(backbone.forward(rows, cache)).argmax(-1)
    predicted.tolist()  # on a GPU, this waits for the work
    return (time.perf_counter() - started) * 1000


def _resident_bytes() -> int:
    return int(psutil.Process().memory_info().rss)
