"""How a text is filled: the options of its fills, and the callbacks that connect them to the world.

Whoever holds a connection to the engine passes its ``fill`` method as ``AskEngine``.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from intarsia.engine.ipc.messages import Decoding, Fill, Filled, ProjectContext, ProjectUse, Step
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.holes.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillOptions:
    """The options of a fill. None leaves a choice to the canvas or the engine."""

    decoding: Decoding = "speculative"
    seed: int = 0
    num_candidates: int = 4  # scored for a selection; a fill at a cursor has to be fast: one
    temperature: float | None = None
    max_tokens: int | None = None
    max_steps: int | None = None
    deadline_ms: int | None = None
    is_fresh: bool = False  # no warm start, so that every fill is measured under equal conditions
    is_background: bool = False  # fills at a cursor go first
    is_ahead: bool = False  # for a place where the user may be next
    model: str | None = None
    project: ProjectContext | None = None  # code of other files, to be read before this one
    project_use: ProjectUse = "if_cached"
    names: Sequence[str] = ()  # the text begins with one of these identifiers; () is any text
    budget: Budget = field(default_factory=Budget)


OnStep: TypeAlias = Callable[[Step], None]
"""Called with each denoising step of a fill."""

OnHoleStep: TypeAlias = Callable[[str, Hole, Step], None]
"""Called with the text that the model is shown, the hole in it, and a denoising step."""


class AskEngine(Protocol):
    """Sends a fill to the engine and waits for the answer; cancelling the await cancels the fill.

    Where the engine gives no answer it raises, or returns the reason.
    """

    async def __call__(
        self, request: Fill, on_step: OnStep | None = None, /
    ) -> Filled | NoSuggestion: ...


class PlannedHole(Protocol):
    """A hole in a text; ``window`` is the part of the text that the model sees around it."""

    @property
    def text(self) -> str: ...
    @property
    def hole(self) -> Hole: ...
    @property
    def language(self) -> Language: ...
    @property
    def window(self) -> tuple[int, int]: ...


FindProject: TypeAlias = Callable[[PlannedHole], Awaitable[ProjectContext | None]]
"""Returns the code of other files for a hole, None where there is none."""


async def with_project(
    options: FillOptions, planned: PlannedHole, find: FindProject | None
) -> FillOptions:
    """Return the options with the code of other files for a hole: its fill waits until it is
    read."""
    if find is None:
        return options
    return replace(options, project=await find(planned), project_use="always")


@dataclass(frozen=True, kw_only=True, slots=True)
class FillContext:
    """What all fills of one text have in common."""

    ask: AskEngine
    language: Language
    options: FillOptions
    on_step: OnHoleStep | None = None
    find_project: FindProject | None = None
