"""A user at an editor, drawn with a seed: types, asks, accepts, undoes, deletes, opens, closes."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any

from lsprotocol import types
from soak.open_text import OpenText
from soak.soak_client import SoakClient

WORDS = ("value", "total", "é_name", "items", "result", "naïve", "π", "count", "offset", "row")
LINES = ("a = 1\n", "total = first + second\n", "é = '𝄞 🎼'\n", "result = call(value, row)\n")
MAX_CHARACTERS = 2_000
"""The engine sees the whole text before the cursor up to here, so its digest is of all of it."""
MAX_OPEN, NUM_FILES = 3, 6
KEY_S = (0.03, 0.18)


class Typist:
    """Works at a client until ``stop``; survives the end of its server."""

    def __init__(self, client: SoakClient, seed: int, environment: Mapping[str, str]) -> None:
        self.client = client
        self._random = Random(f"{seed} {client.number}")
        self._environment = environment
        self._ids = itertools.count()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._stopped = asyncio.Event()
        self._actions: dict[Callable[[OpenText], Awaitable[None]], int] = {
            self._word: 40,
            self._line: 10,
            self._delete: 7,
            self._undo: 9,
            self._paste: 4,
            self._several_cursors: 3,
            self._move: 8,
            self._invoke: 5,
            self._check: 9,
            self._another_document: 5,
        }

    async def run(self) -> None:
        """Work until told to stop; then wait for the answers that are due."""
        while not self._stopped.is_set():
            await self.survive(self._act)
        await asyncio.gather(*self._waiting)

    def stop(self) -> None:
        """Stop after the present action."""
        self._stopped.set()

    async def survive(self, act: Callable[[], Awaitable[None]]) -> None:
        """Act; where the server has ended, start another one, as an editor does."""
        try:
            await act()
        except (RuntimeError, OSError):
            if not self.client.has_ended:
                raise
        if self.client.has_ended:
            await asyncio.gather(*self._waiting)
            await self.client.replace(self._environment)

    async def check_all(self) -> bool:
        """Tell whether the server has each document as it is here."""
        verdicts = [await self.client.check(text, self._id()) for text in list(self.client.texts)]
        return all(verdict == "same" for verdict in verdicts)

    async def _act(self) -> None:
        if not self.client.texts:
            self.client.open(self._name(), "".join(self._random.choices(LINES, k=8)))
        text = self.client.texts[-1]
        if len(text.text) > MAX_CHARACTERS:
            self.client.change(text.replace_all(text.text[: MAX_CHARACTERS // 4]))
        actions, weights = list(self._actions), list(self._actions.values())
        await self._random.choices(actions, weights)[0](text)
        await self._pause()

    async def _word(self, text: OpenText) -> None:
        """Type a word; ask at some keys, as editors do, and type on or wait."""
        for key in self._random.choice(WORDS) + self._random.choice((" ", " = ", " + ", "")):
            self.client.change(text.insert(key))
            if self._random.random() < 0.3:
                self._ask_and_type_on(text)
            await self._pause()
        await self._ask_and_wait(text)

    def _ask_and_type_on(self, text: OpenText) -> None:
        id = self._id()
        task = asyncio.ensure_future(self.client.ask(text, id))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        if self._random.random() < 0.5:
            asyncio.get_running_loop().call_later(
                self._random.uniform(*KEY_S), self._cancel, id, task
            )

    def _cancel(self, id: str, task: "asyncio.Task[Any]") -> None:
        if not task.done() and not self.client.has_ended:
            self.client.client.cancel_request(types.CancelParams(id))

    async def _ask_and_wait(self, text: OpenText, *, is_invoked: bool = False) -> None:
        version = text.version
        item = await self.client.ask(text, self._id(), is_invoked=is_invoked)
        if item is None or text.version != version or self._random.random() < 0.5:
            return
        accepted = str(item.insert_text)
        if self._random.random() < 0.3:  # only a part, as by a key for the next word
            accepted = accepted[: self._random.randint(1, len(accepted))]
        start, end = text.offset(item.range.start), text.offset(item.range.end)
        self.client.change(text.edit((start, end, accepted)))

    async def _line(self, text: OpenText) -> None:
        self.client.change(text.insert("\n"))
        await self._ask_and_wait(text)

    async def _delete(self, text: OpenText) -> None:
        start = max(0, text.cursor - self._random.randint(1, 12))
        if start < text.cursor:
            self.client.change(text.edit((start, text.cursor, "")))
        self._ask_and_type_on(text)

    async def _undo(self, text: OpenText) -> None:
        for _ in range(self._random.randint(1, 5)):
            self.client.change(text.undo())
            await self._pause()
        self._ask_and_type_on(text)

    async def _paste(self, text: OpenText) -> None:
        self.client.change(text.insert("".join(self._random.choices(LINES, k=4))))
        self._ask_and_type_on(text)

    async def _several_cursors(self, text: OpenText) -> None:
        places = sorted(self._random.choices(range(len(text.text) + 1), k=3), reverse=True)
        self.client.change(text.edit(*((place, place, "x") for place in places)))

    async def _move(self, text: OpenText) -> None:
        text.cursor = self._random.choice((len(text.text), self._random.randint(0, len(text.text))))
        await self._ask_and_wait(text)

    async def _invoke(self, text: OpenText) -> None:
        await self._ask_and_wait(text, is_invoked=True)

    async def _check(self, text: OpenText) -> None:
        await self.client.check(text, self._id())

    async def _another_document(self, text: OpenText) -> None:
        """Open one, and close the oldest of too many; or go to the one before."""
        if self._random.random() < 0.5:
            self.client.texts.insert(0, self.client.texts.pop())
            return
        self.client.open(self._name(), "".join(self._random.choices(LINES, k=8)))
        if len(self.client.texts) > MAX_OPEN:
            await self.client.check(self.client.texts[0], self._id())
            oldest = self.client.texts.pop(0)
            self.client.client.text_document_did_close(oldest.closed())

    def _name(self) -> str:
        """Draw a file that is not open: one that was closed is opened again."""
        known = {text.uri.rsplit("/", 1)[-1] for text in self.client.texts}
        names = [f"client{self.client.number}_{number}.py" for number in range(NUM_FILES)]
        return self._random.choice([name for name in names if name not in known])

    def _id(self) -> str:
        return f"soak {self.client.number} {next(self._ids)}"

    async def _pause(self) -> None:
        await asyncio.sleep(self._random.uniform(*KEY_S))
