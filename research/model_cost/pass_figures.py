"""The figures of ``pass_cost``. Imports no torch, because the benchmark reads them."""

import msgspec


class PassFigures(msgspec.Struct, frozen=True, kw_only=True):
    """``pass_ms``: median milliseconds by number of rows, for all layers and the output matrix."""

    model: str
    context_tokens: int
    repeats: int
    pass_ms: dict[int, float]
    load_s: float
    read_ms: float = 0.0  # least time to read the context, in the chunks of the engine
    loaded_bytes: int  # resident memory after the load, libraries included
    working_bytes: int  # resident memory after the passes, which read the mapped weights
