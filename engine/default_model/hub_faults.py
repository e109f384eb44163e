"""The many ways in which the model hub's library fails, as one."""

from collections.abc import Iterator
from contextlib import contextmanager

from intarsia.engine.default_model.cache_folder import is_disk_full
from intarsia.engine.default_model.source_error import SourceError


@contextmanager
def hub_faults() -> Iterator[None]:
    """Turn any failure of the hub into a SourceError; a full disk stays what it is."""
    from huggingface_hub import errors

    # HTTPError is that of the httpx which the hub's library speaks; hf-xet raises RuntimeError.
    transport_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    try:
        yield
    except (transport_error, OSError, RuntimeError, ValueError) as fault:
        if is_disk_full(fault):
            raise
        raise SourceError(f"the model hub gave nothing ({_in_one_line(fault)})") from fault


def _in_one_line(fault: BaseException) -> str:
    lines = str(fault).strip().splitlines()
    return f"{type(fault).__name__}: {lines[0][:160]}" if lines else type(fault).__name__
