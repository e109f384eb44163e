"""The project of a case, indexed as it is while the hole is open: without the hole's text.

The file is in the index as an editor would have it, with the hole cut out. Copies of it elsewhere
in the project give no chunk.
"""

import tempfile
from pathlib import Path, PurePosixPath

from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.sets.copies import is_copy, lines_of
from intarsia.research.evaluation.sets.package_index import bring_up_to_date
from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import Chunk
from intarsia.workspace.context.options import ChunkOptions
from intarsia.workspace.context.place import Place
from intarsia.workspace.files.root_settings import RootSettings
from intarsia.workspace.index.project_index import ProjectIndex


class CutProjects:
    """Chooses chunks for one case after another. The databases are in a temporary folder."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._index: ProjectIndex | None = None
        self._root: Path | None = None
        self._open: str | None = None

    def chunks(
        self, case: Case, plan: FillPlan, fill_options: FillOptions, options: ChunkOptions
    ) -> tuple[Chunk, ...]:
        """Return the chunks in the order of reading; none if the case has no project."""
        if case.root is None:
            return ()
        root = case.root.resolve()
        path = (root / case.path).as_posix()
        index = self._opened(root, path, plan.text)
        start, end = plan.window
        place = Place(
            path=path,
            text=plan.text,
            language=plan.language,
            offset=plan.hole.start,
            window_start=start,
            window_end=end,
            recent_edits=case.recent_edits,
        )
        return tuple(
            chunk
            for chunk in choose_chunks(index, place, options)
            if not _is_from_copy(index, (root / chunk.path).as_posix(), place)
        )

    def close(self) -> None:
        """Remove the databases."""
        if self._index is not None:
            self._index.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._folder, self._index, self._root, self._open = None, None, None, None

    def _opened(self, root: Path, path: str, text: str) -> ProjectIndex:
        """Return the up-to-date index of one folder, with the text of the one open file."""
        if self._index is None:
            self._folder = tempfile.TemporaryDirectory(prefix="intarsia-index-")
            self._index = ProjectIndex(Path(self._folder.name))
        if self._open not in (None, path):
            self._index.open_text(str(self._open), None)
        if self._root != root:
            self._index.open_roots([RootSettings(path=root.as_posix(), exclude_secrets=False)])
        self._root, self._open = root, path
        self._index.open_text(path, text)
        bring_up_to_date(self._index)
        return self._index


def _is_from_copy(index: ProjectIndex, path: str, place: Place) -> bool:
    if PurePosixPath(path).name != PurePosixPath(place.path).name:
        return False
    return is_copy(lines_of(index.read(path) or ""), lines_of(place.text))
