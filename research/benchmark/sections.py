"""The sections of a benchmark, in order."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from intarsia_research.benchmark.cancel import measure_cancel
from intarsia_research.benchmark.context import measure_context
from intarsia_research.benchmark.determinism import measure_determinism
from intarsia_research.benchmark.editing import measure_editing
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.fills import measure_fills
from intarsia_research.benchmark.hole_lengths import measure_hole_lengths
from intarsia_research.benchmark.index import measure_index
from intarsia_research.benchmark.next_edit_wait import measure_next_edit_wait
from intarsia_research.benchmark.next_edits import measure_next_edits
from intarsia_research.benchmark.passes import measure_passes
from intarsia_research.benchmark.requests import measure_requests
from intarsia_research.benchmark.side_by_side import measure_side_by_side
from intarsia_research.benchmark.start import measure_prefill, measure_server, measure_start
from intarsia_research.benchmark.typing import measure_typing
from intarsia_research.benchmark.typing_along import measure_along
from intarsia_research.benchmark.users import measure_users


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One section. ``words`` describe its work; ``needs_baselines``: it has no figures without."""

    name: str
    words: str
    measure: Callable[[Bench], Awaitable[Sequence[Figure]]]
    needs_baselines: bool = False


SECTIONS: tuple[Section, ...] = (
    Section(name="start", words="starting engines", measure=measure_start),
    Section(name="server", words="starting the language server", measure=measure_server),
    Section(name="prefill", words="reading context", measure=measure_prefill),
    Section(name="passes", words="a pass over a canvas", measure=measure_passes),
    Section(name="fills", words="filling single lines", measure=measure_fills),
    Section(
        name="side-by-side",
        words="filling single lines, in turns with baselines",
        measure=measure_side_by_side,
        needs_baselines=True,
    ),
    Section(name="context", words="filling in longer and longer files", measure=measure_context),
    Section(name="holes", words="filling longer and longer holes", measure=measure_hole_lengths),
    Section(name="determinism", words="repeating requests", measure=measure_determinism),
    Section(name="cancel", words="cancelling fills", measure=measure_cancel),
    Section(name="requests", words="asking the language server", measure=measure_requests),
    Section(name="along", words="typing the suggested text", measure=measure_along),
    Section(name="typing", words="typing", measure=measure_typing),
    Section(
        name="next-edits",
        words="typing where nothing else is to change",
        measure=measure_next_edits,
    ),
    Section(
        name="next-edit-wait",
        words="renaming variables",
        measure=measure_next_edit_wait,
    ),
    Section(name="index", words="indexing a project", measure=measure_index),
    Section(name="editing", words="working on several files", measure=measure_editing),
    Section(name="users", words="several users at once", measure=measure_users),
)
"""The first section leaves a warm engine for the others."""
