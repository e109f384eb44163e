"""What systems have written so far, in a file of JSON lines: an interrupted run goes on from it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.peers.same_texts.holes import Hole
from intarsia_research.peers.same_texts.writers import Writer, WrittenHole


class _Line(msgspec.Struct, frozen=True):
    """One hole of one system. ``prompt`` and ``max_tokens`` tell whether it is the same hole."""

    system: str
    prompt: tuple[int, ...]
    max_tokens: int
    ids: tuple[int, ...]
    text: str


class KeptHoles:
    """The holes in a file; without a file, nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        """Raises EvaluationFault for a file that is no such file."""
        self._file = file
        self._known: dict[tuple[str, tuple[int, ...], int], WrittenHole] = {}
        if file is None or not file.exists():
            return
        try:
            for line in msgspec.json.Decoder(_Line).decode_lines(file.read_bytes()):
                self._known[line.system, line.prompt, line.max_tokens] = WrittenHole(
                    ids=line.ids, text=line.text
                )
        except (OSError, msgspec.DecodeError) as error:
            raise EvaluationFault(f"{file} cannot be read ({error}): give another file") from error

    def write_all(
        self,
        writer: Writer,
        holes: Sequence[Hole],
        *,
        num_at_once: int,
        on_done: Callable[[int], None],
    ) -> list[WrittenHole]:
        """Have a system write the holes that it has not; return all of these in order.

        ``on_done`` gets the number so far. Raises RemoteError for the first hole that fails.
        """
        written = []
        with ThreadPoolExecutor(num_at_once) as pool:
            for hole in pool.map(lambda hole: self._written(writer, hole), holes):
                written.append(hole)
                on_done(len(written))
        return written

    def _written(self, writer: Writer, hole: Hole) -> WrittenHole:
        task = hole.task
        key = (writer.name, (*task.context, *task.healed), task.request.max_tokens)
        if key not in self._known:
            written = self._known[key] = writer.write(task)
            line = _Line(*key, written.ids, written.text)
            if self._file is not None:
                with self._file.open("ab") as file:
                    file.write(msgspec.json.encode(line) + b"\n")
        return self._known[key]
