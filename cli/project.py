"""The folder that a command's file is in: its index, and code of its other files for a hole."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices
from intarsia.engine.ipc.messages import ProjectContext
from intarsia.infill.filling.plan import PlannedHole, to_project_context
from intarsia.workspace.context.chunk import Chunk, ChunkOptions, Place, context_budget
from intarsia.workspace.context.stability import ChosenContext, context_for
from intarsia.workspace.index.indexer import OwnIndex, open_index
from intarsia.workspace.index.project_index import ProjectIndex

MAX_INDEX_S = 10.0
"""What was read by then has to do; the next command reads on from there."""


class FileProject:
    """``choose`` for holes of one file, as the language server does; the first use reads all."""

    def __init__(self, file: Path, root: Path) -> None:
        self.file = file.resolve()
        self.root = root
        self.is_complete = True  # all files are indexed
        self.index_ms = 0.0
        self._own: OwnIndex | None = None
        self._chosen: ChosenContext | None = None

    @property
    def index(self) -> ProjectIndex:
        """The index, as up to date as the time allows."""
        if self._own is None:
            began, self._own = time.monotonic(), open_index(self.root)
            with LoadBar(notices()) as bar:
                bar.update(f"reading {self.root.name}", None)
                self.is_complete = self._own.update(max_s=MAX_INDEX_S)
            self.index_ms = 1_000 * (time.monotonic() - began)
        return self._own.index

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    def choose(self, planned: PlannedHole, tokens_per_s: float | None) -> tuple[Chunk, ...]:
        """Return chunks for a hole; the speed of reading decides how many."""
        first, last = planned.window
        place = Place(
            path=self.file.as_posix(),
            text=planned.text,
            language=planned.language,
            offset=planned.hole.start,
            window_start=first,
            window_end=last,
        )
        options = ChunkOptions(budget_tokens=context_budget(tokens_per_s))
        self._chosen = context_for(self.index, place, options, self._chosen)
        return tuple(chunk for chunk in self._chosen.chunks if not chunk.has_changed())

    def message(self, planned: PlannedHole, tokens_per_s: float | None) -> ProjectContext | None:
        """Return what a fill carries; None where no chunk is found."""
        passages = ((it.path, it.text) for it in self.choose(planned, tokens_per_s))
        return to_project_context(passages, self.root.name, self.path)

    @property
    def path(self) -> str:
        return self.file.relative_to(self.root).as_posix()


_MARKERS = (
    ".git .hg .svn pyproject.toml setup.py package.json go.mod Cargo.toml pom.xml build.gradle"
    " build.gradle.kts composer.json Gemfile mix.exs pubspec.yaml Package.swift CMakeLists.txt"
)
MARKERS = tuple(_MARKERS.split())
_VERSION_CONTROL = MARKERS[:3]


def opened_folder(file: Path) -> Path:
    """Return the repository of a file, else the nearest folder of a project, else its own folder.

    The user's home and the folders above it are never returned for a file further down.
    """
    own = file.resolve().parent
    home = Path.home()
    above = [folder for folder in (own, *own.parents) if not home.is_relative_to(folder)]
    for markers in (_VERSION_CONTROL, MARKERS):
        for folder in above:
            if any((folder / marker).exists() for marker in markers):
                return folder
    return own


@contextmanager
def open_project(file: Path | None, root: Path | None = None) -> Iterator[FileProject | None]:
    """Yield the project of a file, None where there is none, as for standard input.

    The user's home and the folder of temporary files are no projects.
    """
    folder = None if file is None else (root or opened_folder(file)).resolve()
    own = Path.home(), Path(tempfile.gettempdir())
    if file is None or folder is None or any(it.is_relative_to(folder) for it in own):
        yield None
        return
    with closing(FileProject(file, folder)) as project:
        yield project
