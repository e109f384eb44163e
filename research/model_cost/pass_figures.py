"""What measure_passes finds: read by those who start it, so without torch."""

import msgspec


class PassFigures(msgspec.Struct, frozen=True, kw_only=True):
    """``pass_ms``: query rows → median milliseconds, layers and output matrix together."""

    model: str
    context_tokens: int
    repeats: int
    pass_ms: dict[int, float]
    load_s: float
    loaded_bytes: int  # resident after the load, libraries and all
    working_bytes: int  # resident after the passes: mapped weights are read when they are needed
