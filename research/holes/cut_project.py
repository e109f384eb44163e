"""A project indexed as it is while one of its files has an open hole: without the hole's text.

The file is in the index as an editor would have it, with the hole cut out. Copies of it elsewhere
in the project give no chunk.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from intarsia.infill.filling.plan import FillPlan
from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import Chunk, ChunkOptions, Place, RecentEdit
from intarsia.workspace.context.member_names import member_names
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia_research.holes.copies import is_copy, lines_of
from intarsia_research.holes.package_index import bring_up_to_date


class CutProjects:
    """Chooses chunks for one hole after another. The databases are in a temporary folder."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._index: ProjectIndex | None = None
        self._root: Path | None = None
        self._open: str | None = None

    def chunks(
        self,
        root: Path,
        path: str,
        plan: FillPlan,
        options: ChunkOptions,
        recent_edits: Sequence[RecentEdit] = (),
    ) -> tuple[Chunk, ...]:
        """Return the chunks for a planned hole in the order of reading.

        ``root`` is the project's folder, ``path`` that of the file in it. The text of the plan is
        the file's text without the hole. ``recent_edits`` are the user's in other files.
        """
        root = root.resolve()
        path = (root / path).as_posix()
        index = self._opened(root, path, plan.text)
        place = _place(path, plan, recent_edits)
        return tuple(
            chunk
            for chunk in choose_chunks(index, place, options)
            if not _is_from_copy(index, (root / chunk.path).as_posix(), place)
        )

    def member_names(self, root: Path, path: str, plan: FillPlan) -> Sequence[str]:
        """Return the names of which one follows the hole's beginning; () if they are not known."""
        root = root.resolve()
        path = (root / path).as_posix()
        return member_names(self._opened(root, path, plan.text), _place(path, plan))

    def defining_files(self, root: Path, name: str, *, limit: int) -> list[str]:
        """Return the paths in ``root`` of files that define a name, at most ``limit``."""
        root = root.resolve()
        index = self._at(root)
        bring_up_to_date(index)
        found = index.definitions_named(name, limit=limit)
        return [PurePosixPath(one.path).relative_to(root.as_posix()).as_posix() for one in found]

    def close(self) -> None:
        """Remove the databases."""
        if self._index is not None:
            self._index.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._folder, self._index, self._root, self._open = None, None, None, None

    def _opened(self, root: Path, path: str, text: str) -> ProjectIndex:
        """Return the up-to-date index of one folder, with the text of the one open file."""
        index = self._at(root)
        if self._open not in (None, path):
            index.open_text(str(self._open), None)
        self._open = path
        index.open_text(path, text)
        bring_up_to_date(index)
        return index

    def _at(self, root: Path) -> ProjectIndex:
        """Return the index of one folder; it may not be up to date."""
        if self._index is None:
            self._folder = tempfile.TemporaryDirectory(prefix="intarsia-index-")
            self._index = ProjectIndex(Path(self._folder.name))
        if self._root != root:
            if self._open is not None:
                self._index.open_text(self._open, None)
                self._open = None
            self._index.open_roots([RootSettings(path=root.as_posix(), exclude_secrets=False)])
            self._root = root
        return self._index


def _place(path: str, plan: FillPlan, recent_edits: Sequence[RecentEdit] = ()) -> Place:
    start, end = plan.window
    return Place(
        path=path,
        text=plan.text,
        language=plan.language,
        offset=plan.hole.start,
        window_start=start,
        window_end=end,
        recent_edits=recent_edits,
    )


def _is_from_copy(index: ProjectIndex, path: str, place: Place) -> bool:
    if PurePosixPath(path).name != PurePosixPath(place.path).name:
        return False
    return is_copy(lines_of(index.read(path) or ""), lines_of(place.text))
