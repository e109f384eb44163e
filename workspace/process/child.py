"""The process of the index: reads messages, and works in short steps in between.

It has a low priority, ends when its standard input is closed, and writes nothing but the databases
in the user's cache.
"""

import os
import queue
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import IO, TypeAlias

import msgspec

from intarsia.infill.languages import language_for
from intarsia.workspace.context.chunk import ChunkOptions, Place
from intarsia.workspace.context.member_names import member_names
from intarsia.workspace.context.stability import ChosenContext, context_for
from intarsia.workspace.files.paths import as_posix
from intarsia.workspace.imports.finder import ImportFinder
from intarsia.workspace.imports.uses import uses_in_files
from intarsia.workspace.index.frames import FrameError, read_frame, to_frame
from intarsia.workspace.index.indexer import Indexer
from intarsia.workspace.index.parser_process import LOW, Parsed, lower_priority
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.index.root_index import WAIT_S
from intarsia.workspace.process.messages import (
    ChooseChunks,
    Chosen,
    Failed,
    FilesChanged,
    FindImports,
    FindMembers,
    FindUses,
    FromIndex,
    GetStatistics,
    ImportsFound,
    MembersFound,
    OpenRoots,
    OpenText,
    Statistics,
    ToIndex,
    UsesFound,
    decode_to_index,
)

TEXT_DELAY_S = 1.0
"""A text that is being typed is read at most this often."""
WALK_AGAIN_S = 300.0
WALK_AGAIN_WITH_EVENTS_S = 1_800.0
MAX_CHANGES_A_STEP = 50
MAX_CHOSEN = 100
"""Files whose set of chunks is kept while it serves the hole."""

_LOOK_AGAIN_S = 10.0
_END = None
_Event: TypeAlias = tuple[int, ToIndex] | Parsed | None


class IndexChild:
    """One client's index. ``run`` returns when the client closes its end."""

    def __init__(self, index: ProjectIndex, send: Callable[[int, FromIndex], None]) -> None:
        self._index = index
        self._send = send
        self._inbox: queue.PriorityQueue[tuple[int, int, _Event]] = queue.PriorityQueue()
        self._num_events = 0
        self._counting = threading.Lock()
        self._indexer = Indexer(index, self.put)
        self._texts: dict[str, str | None] = {}
        self._texts_due = 0.0
        self._changes: deque[str] = deque()
        self._walk_again_s = WALK_AGAIN_S
        self._walk_at = 0.0
        self._ready_at = 0.0
        self._chosen: OrderedDict[str, ChosenContext] = OrderedDict()  # by path

    def put(self, event: _Event) -> None:
        """Hand in an event, from any thread. Those of the client go before the parser's."""
        with self._counting:
            self._num_events += 1
            place = self._num_events
        rank = 1 if isinstance(event, Parsed) else 0
        self._inbox.put((rank, place, event))

    def run(self) -> None:
        """Handle events and work between them, until the client is gone."""
        try:
            while True:
                try:
                    _, _, event = self._inbox.get(timeout=self._pause_s())
                except queue.Empty:
                    self._step()
                    continue
                if event is _END:
                    return
                if isinstance(event, Parsed):
                    self._indexer.handle(event)
                else:
                    self._handle(*event)
                if self._inbox.empty():
                    self._step()
        finally:
            self._indexer.close()
            self._index.close()

    def _pause_s(self) -> float:
        """Return how long nothing has to be done."""
        now = time.monotonic()
        if self._changes or (self._indexer.is_busy and not self._indexer.is_waiting):
            return 0.0
        if self._index.is_waiting:
            return WAIT_S
        pause_s = max(0.0, self._walk_at - now) if self._walk_at else _LOOK_AGAIN_S
        if self._texts:
            pause_s = min(pause_s, max(0.0, self._texts_due - now))
        return min(pause_s, _LOOK_AGAIN_S)

    def _step(self) -> None:
        now = time.monotonic()
        if self._texts and now >= self._texts_due:
            self._take_texts()
        for _ in range(min(len(self._changes), MAX_CHANGES_A_STEP)):
            self._index.changed(self._changes.popleft())
        if self._walk_at and now >= self._walk_at and not self._indexer.is_busy:
            self._index.walk_again()
            self._walk_at = now + self._walk_again_s
        if self._indexer.is_busy:
            self._indexer.step()
            return
        self._index.settle(is_idle=True)  # an open transaction would keep other windows out
        if not self._ready_at and not self._index.is_waiting:
            self._ready_at = now

    def _take_texts(self) -> None:
        for path, text in self._texts.items():
            self._index.open_text(path, text)
        if None in self._texts.values():  # a set that shows a closed text is of the past
            self._chosen.clear()
        self._texts.clear()

    def _handle(self, number: int, event: ToIndex) -> None:
        match event:
            case OpenRoots():
                self._open(event)
            case FilesChanged():
                self._changes.extend(event.paths)
                kept = {as_posix(path) for path in event.paths}
                for path in [path for path in self._chosen if path not in kept]:
                    del self._chosen[path]  # to choose again: it may show what has changed
            case OpenText():
                if not self._texts:
                    self._texts_due = time.monotonic() + TEXT_DELAY_S
                self._texts[as_posix(event.path)] = event.text
            case ChooseChunks():
                self._answer(number, lambda: self._choose(event))
            case FindImports():
                self._answer(number, lambda: self._find_imports(event))
            case FindMembers():
                self._answer(number, lambda: self._find_members(event))
            case FindUses():
                self._answer(number, lambda: self._find_uses(event))
            case GetStatistics():
                self._answer(number, self._statistics)

    def _open(self, event: OpenRoots) -> None:
        self._index.open_roots(event.roots)
        self._chosen.clear()
        self._walk_again_s = WALK_AGAIN_WITH_EVENTS_S if event.has_file_events else WALK_AGAIN_S
        self._walk_at = time.monotonic() + self._walk_again_s
        self._ready_at = 0.0

    def _answer(self, number: int, work: Callable[[], FromIndex]) -> None:
        try:
            answer = work()
        except Exception as error:  # noqa: BLE001  one odd file must not end the index
            answer = Failed(message=f"{type(error).__name__}: {error}")
        self._send(number, answer)

    def _choose(self, event: ChooseChunks) -> Chosen:
        place = Place(
            path=as_posix(event.path),
            text=event.text,
            language=language_for(event.language_id, event.path),
            offset=event.offset,
            window_start=event.window_start,
            window_end=event.window_end,
            recent_edits=tuple(
                it for it in event.recent_edits if self._index.may_show(it.path, it.text)
            ),
        )
        options = ChunkOptions(budget_tokens=event.budget_tokens)
        former = self._chosen.get(place.path)
        if former is not None and self._has_changed(former):
            former = None
        chosen = context_for(self._index, place, options, former)
        if chosen is not former and self._has_changed(chosen):  # rules are read again by now
            chosen = context_for(self._index, place, options, None)
        self._remember(chosen)
        return Chosen(chunks=tuple(it for it in chosen.chunks if not it.has_changed()))

    def _find_imports(self, event: FindImports) -> ImportsFound:
        language = language_for(event.language_id, event.path)
        path = as_posix(event.path)
        if not self._index.may_read(path):
            return ImportsFound(found=())
        finder = ImportFinder(self._index, path, event.text, language)
        found = tuple(finder.find(name) for name in event.names)
        is_complete = bool(self._ready_at) and not self._indexer.is_busy
        return ImportsFound(found=found, is_complete=is_complete)

    def _find_members(self, event: FindMembers) -> MembersFound:
        self._take_texts()
        place = Place(
            path=as_posix(event.path),
            text=event.text,
            language=language_for(event.language_id, event.path),
            offset=event.offset,
            window_start=0,
            window_end=0,
        )
        if not self._index.may_read(place.path):
            return MembersFound(names=())
        return MembersFound(names=tuple(member_names(self._index, place)))

    def _find_uses(self, event: FindUses) -> UsesFound:
        self._take_texts()  # the answer is about the texts that the user sees
        path = as_posix(event.path)
        if not self._index.may_read(path):
            return UsesFound(files=())
        files = uses_in_files(self._index, path, event.text, event.at, event.new)
        return UsesFound(files=files)

    def _remember(self, chosen: ChosenContext) -> None:
        """Keep a set of chunks for the file's next hole, unless the index knew only a part."""
        if self._indexer.is_busy:
            return
        path = chosen.needs.path
        self._chosen[path] = chosen
        self._chosen.move_to_end(path)
        if len(self._chosen) > MAX_CHOSEN:
            self._chosen.popitem(last=False)

    def _has_changed(self, chosen: ChosenContext) -> bool:
        """Return whether a chosen file or a rule for it has changed, and look at it again then."""
        changed = {it.path for one in chosen.chunks for it in one.seen if it.has_changed()}
        for path in changed:
            self._index.changed(path)
        return bool(changed)

    def _statistics(self) -> Statistics:
        counts = self._index.counts()
        fault = "; ".join((self._indexer.fault, *counts.faults)).strip("; ")
        if self._indexer.fault:
            state = "failed"
        elif counts.is_walking:
            state = "walking"
        else:
            has_more = self._indexer.is_busy or self._index.is_waiting
            state = "indexing" if has_more else "ready"
        return Statistics(
            state=state,
            num_files=counts.num_files,
            num_left_out=counts.num_left_out,
            num_definitions=counts.num_definitions,
            num_queued=counts.num_queued,
            fault=fault,
        )


def run_index_process() -> None:
    """Serve one client on standard input and output."""
    lower_priority(LOW)
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(2, 1)  # a stray print must not garble the frames

    def send(number: int, message: FromIndex) -> None:
        stdout.write(to_frame((number, message)))
        stdout.flush()

    child = IndexChild(ProjectIndex(), send)
    threading.Thread(target=_read, args=(stdin, child.put), name="client", daemon=True).start()
    try:
        child.run()
    except BrokenPipeError:  # the client is gone
        return


def _read(stdin: IO[bytes], put: Callable[[_Event], None]) -> None:
    """Hand in the client's messages until it ends, or sends what is none."""
    try:
        while (data := read_frame(stdin)) is not None:
            put(decode_to_index(data))
    except (FrameError, OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        print(f"intarsia: the index got no message: {error}", file=sys.stderr)  # noqa: T201
    put(_END)
