"""How far one inline completion walks through the server: `make walk`.

The real server and an engine with rules run in this process. The engine is connected and has
filled before; of the document nothing is known. Counted is what runs in the server's tasks, the
engine's client too, from the call of the request's handler to its return. ``--calls`` lists it.
Fails where a number is over its target.
"""

import asyncio
import gc
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import in_process_server
from editor_clients import Page, open_document, page
from engine_watch import until
from temporary_address import temporary_address

from intarsia.lsp.requests import inline_completion

ROOT = Path(__file__).parents[2]
PRODUCT = tuple(f"{ROOT}/{part}/" for part in ("lsp", "workspace", "infill", "engine"))
HANDLER = "lsp/requests/inline_completion.py", "inline_completion"
WIRE = "engine/ipc/connection.py", "Connection.ask"
ASKED = {
    "settings resolved": ("lsp/settings_in_force.py", "SettingsInForce._find"),
    "eligibility asked": ("lsp/snapshots.py", "ineligibility"),
    "holes found": ("infill/holes/hole.py", "find_hole"),
}
TARGETS = {"files": 35, "moves between files": 120, "frames from handler to wire": 7}
FUNCTION = "def area_{0}(width, height):\n    return width * height\n\n\n"
TEXT = "".join(map(FUNCTION.format, range(80))) + "def area(width, height):\n    return\n"

answer = inline_completion.inline_completion

Place = tuple[str, str]
"""A function: its file and its name."""


class Walk:
    """Follows the calls of the server's tasks, as the profiler of its thread."""

    def __init__(self) -> None:
        self.calls: Counter[Place] = Counter()
        self.num_moves = 0
        self.to_wire: list[Place] = []
        self._began: dict[asyncio.Task[Any], list[Place]] = {}  # the stack that made the task
        self._above: list[Place] = []

    async def handle(self, ls: Any, params: Any) -> Any:
        """Call the request's handler and follow it."""
        loop, self._above = asyncio.get_running_loop(), self._stack(sys._getframe(1))
        loop.set_task_factory(self._begin)
        sys.setprofile(self._follow)
        try:
            return await answer(ls, params)
        finally:
            sys.setprofile(None)
            loop.set_task_factory(None)

    def _follow(self, frame: FrameType, event: str, _arg: object) -> None:
        is_server = in_process_server._SERVER.get(None) is not None
        if event == "call" and is_server and frame.f_code.co_filename.startswith(PRODUCT):
            called, *callers = self._stack(frame)
            if called in self._above:
                return
            self.calls[called] += 1
            self.num_moves += bool(callers) and callers[0][0] != called[0]
            if called == WIRE and HANDLER in callers:
                self.to_wire = [*reversed(callers[: callers.index(HANDLER) + 1]), called]

    def _stack(self, frame: FrameType | None) -> list[Place]:
        """Return the product's calls, the innermost first, with those that began the task."""
        found = []
        while frame is not None:
            code = frame.f_code
            if code.co_filename.startswith(PRODUCT):
                found.append((code.co_filename.removeprefix(f"{ROOT}/"), code.co_qualname))
            frame = frame.f_back
        task = asyncio.current_task()
        return [*found, *self._began.get(task, ())] if task else found

    def _begin(self, loop: Any, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
        task = asyncio.Task(coroutine, loop=loop, **options)
        self._began[task] = self._stack(sys._getframe(1))
        return task


async def walked() -> Walk:
    """Follow the first request of a document, in a server that has answered for another one."""
    walk = Walk()
    with temporary_address() as address:
        alone = {"preload": False}  # no load's answer comes during the request
        async with page(
            address, "x = \n", name="first.py", text="width * height", options=alone
        ) as user:
            await until(lambda: gc.get_freeze_count() > 0)  # all handlers are loaded
            assert await user.shown(0, 4)
            user.close()
            asked = Page(user.client, open_document(user.client, "second.py", TEXT))
            line = TEXT.count("\n") - 1
            asked.insert(line, 10, " ")
            with patch.object(inline_completion, "inline_completion", walk.handle):
                shown = await asked.shown(line, 11)
            assert shown == ["width * height"], shown
    return walk


def main() -> int:
    walk = asyncio.run(walked())
    files = Counter(file for file, _ in walk.calls.elements())
    if "--calls" in sys.argv:
        for file, _ in files.most_common():
            called = [(name, number) for (at, name), number in walk.calls.items() if at == file]
            print(file, *(f"{number:>4} {name}" for name, number in called), sep="\n")
    rows = {
        "files": len(files),
        "moves between files": walk.num_moves,
        "frames from handler to wire": len(walk.to_wire),
        **{what: walk.calls[place] for what, place in ASKED.items()},
    }
    for what, number in rows.items():
        print(f"{what:<28}{number:>5}   target: at most {TARGETS.get(what, 1)}")
    print(*(f"  {name} ({file})" for file, name in walk.to_wire), sep="\n")
    return int(any(number > TARGETS.get(what, 1) for what, number in rows.items()))


if __name__ == "__main__":
    sys.exit(main())
