"""Decide whether a fill reads code of other files now, uses what was read before, or none.

Shared by all that read contexts for a causal backbone. Knows no model and no torch.
"""

from collections.abc import Callable

from msgspec.structs import replace

from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.families.project_text import has_chunks
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill


class ProjectChoice:
    """Reads requests with the code of other files that is worth its time.

    ``num_missing`` returns how many context tokens of a task would have to be read;
    ``is_worth_reading`` is that of ``ReadingSpeed``.
    """

    def __init__(
        self,
        reader: RequestReader,
        *,
        num_missing: Callable[[FillTask], int],
        is_worth_reading: Callable[[int, int], bool],
    ) -> None:
        self._reader = reader
        self._num_missing = num_missing
        self._is_worth_reading = is_worth_reading
        self._last_read: Fill | None = None  # the last request with a project that was read

    def read(self, request: Fill, control: FillControl) -> FillTask:
        """Return the task with code of other files if it may wait for that, or need not wait.

        Until other chunks of the same file are read, those that were read before serve instead.
        """
        if not has_chunks(request.project):
            request = replace(request, project=None)
        task = self._reader.read(request, control)
        if request.project is None or request.project_use == "always":
            return task
        num_missing = self._num_missing(task)
        if self._is_worth_reading(num_missing, 0):
            return task
        last = self._last_read
        if last is not None and _may_serve(last, request):
            earlier = self._reader.read(replace(request, project=last.project), control)
            if self._is_worth_reading(self._num_missing(earlier), 0):
                return earlier
        own = self._reader.read(replace(request, project=None), control)
        num_missing_without = self._num_missing(own)
        return task if self._is_worth_reading(num_missing, num_missing_without) else own

    def note_read(self, task: FillTask) -> None:
        """Note that the context of a task was read: its project may serve later requests."""
        if task.num_project:
            self._last_read = task.request


def _may_serve(earlier: Fill, request: Fill) -> bool:
    """Tell whether the chunks of an earlier request may serve this one: those of the same file."""
    own, other = request.project, earlier.project
    return (
        own is not None
        and other is not None
        and (own.repository, own.path) == (other.repository, other.path)
    )
