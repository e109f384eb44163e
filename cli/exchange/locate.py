"""Find the model that a command names, and turn a failed write into its exit code."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from intarsia.cli.errors import CliError, ExitCode
from intarsia.engine.cache.progress import Progress
from intarsia.engine.interchange.output import OutputError

if TYPE_CHECKING:
    from intarsia.engine.model_store.locate import ModelFolder


def locate(model: str, on_progress: Progress) -> "ModelFolder":
    """Return the checked folder of a model; it is fetched if missing. Raises ModelError."""
    from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
    from intarsia.engine.model_store.locate import locate_model

    return locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)


@contextmanager
def write_faults() -> Iterator[None]:
    """Raise CliError for a result that cannot be written in this block."""
    try:
        yield
    except OutputError as error:
        raise CliError(str(error), ExitCode.NOT_WRITTEN) from error
