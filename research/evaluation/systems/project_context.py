"""Code of other files for a case: what the model reads before the file with the hole."""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.ipc.messages import ProjectContext
from intarsia.infill.filling.plan import FillPlan, to_project_context
from intarsia.workspace.context.chunk import ChunkOptions
from intarsia.workspace.context.neighbourhood import receiver_at
from intarsia_research.evaluation.case import Case
from intarsia_research.holes.cut_project import CutProjects


@dataclass(frozen=True, kw_only=True, slots=True)
class WithContext:
    """What a system reads of other files. The systems of a run share ``projects``."""

    projects: CutProjects
    options: ChunkOptions
    gives_names: bool = True  # also those of a receiver's members

    def project_for(self, case: Case, plan: FillPlan) -> ProjectContext | None:
        """Return what the model reads of other files, None if there is nothing."""
        if case.root is None or not self.options.kinds:
            return None
        chunks = self.projects.chunks(case.root, case.path, plan, self.options, case.recent_edits)
        passages = ((chunk.path, chunk.text) for chunk in chunks)
        return to_project_context(passages, case.root.resolve().name, case.path)

    def names_for(self, case: Case, plan: FillPlan) -> Sequence[str]:
        """Return the names of which the answer begins with one, () where any text may."""
        if case.root is None or not self.gives_names or not receiver_at(plan.text, plan.hole.start):
            return ()
        return self.projects.member_names(case.root, case.path, plan)
