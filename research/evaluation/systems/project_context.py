"""Code of other files for a case: which kinds of chunks are read, and which pass the gate.

A gate keeps a chunk only if it makes the known code near the hole more likely (``ScoreChunks``).
"""

from dataclasses import dataclass

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import ProjectContext, ScoreChunks
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.filling.project import to_project_context
from intarsia.research.evaluation.case import Case
from intarsia.research.holes.cut_project import CutProjects
from intarsia.workspace.context.options import ChunkOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextOptions:
    """``gate``: a chunk has to gain more than this, in nats per token; None: all are kept."""

    chunks: ChunkOptions
    gate: float | None = None


class CaseContexts:
    """The contexts of one case after another, shared by the systems of a run.

    What systems have in common is chosen and scored once.
    """

    def __init__(self) -> None:
        self._projects = CutProjects()
        self._case: Case | None = None
        self._gains: dict[ProjectContext, tuple[float, ...]] = {}

    async def context_for(
        self,
        case: Case,
        plan: FillPlan,
        fill_options: FillOptions,
        options: ContextOptions,
        client: EngineClient,
    ) -> ProjectContext | None:
        """Return what the model reads of other files, None if there is nothing.

        Raises what the client raises where chunks cannot be scored.
        """
        if case != self._case:
            self._case, self._gains = case, {}
        if case.root is None:
            return None
        chunks = self._projects.chunks(
            case.root, case.path, plan, options.chunks, case.recent_edits
        )
        texts = [(chunk.path, chunk.text) for chunk in chunks]
        repository = case.root.resolve().name
        project = to_project_context(texts, repository, case.path)
        if project is None or options.gate is None:
            return project
        gains = await self._gains_of(project, plan, fill_options, client)
        kept = [text for text, gain in zip(texts, gains, strict=True) if gain > options.gate]
        return to_project_context(kept, repository, case.path)

    def close(self) -> None:
        self._projects.close()

    async def _gains_of(
        self,
        project: ProjectContext,
        plan: FillPlan,
        fill_options: FillOptions,
        client: EngineClient,
    ) -> tuple[float, ...]:
        if project not in self._gains:
            request = ScoreChunks(
                id=0,  # the client numbers its requests
                prefix=plan.canvas.prefix,
                suffix=plan.canvas.suffix,
                project=project,
                model=fill_options.model,
            )
            self._gains[project] = await client.score_chunks(request)
        return self._gains[project]
