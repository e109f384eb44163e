"""The backbone alone, one token after the other, by transformers in a process of its own.

Comes in: a GGUF file; goes out: a baseline. Imports no torch: transformers_process.py does.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.systems.baseline import Baseline
from intarsia.research.evaluation.systems.baseline_program import Program, Prompt, Written
from intarsia.research.evaluation.systems.transformers_protocol import Loaded, Said, Unloadable

_LINE_BYTES = 16 * 1024**2
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",  # all that is needed is in the one file
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
}


def transformers_backbone(gguf: Path, *, model: str | None = None) -> Baseline:
    """Return the baseline that runs this GGUF file; ``model`` is its name in reports."""
    path = gguf.absolute()  # the process has a working folder of its own
    return Baseline(
        name="transformers", way="transformers", model=model, start=lambda: _started(path)
    )


@asynccontextmanager
async def _started(gguf: Path) -> AsyncIterator[Program]:
    """Start the process and wait for its model. Raises EvaluationFault."""
    with (
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder,
    ):
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-P",
                "-m",
                "intarsia.research.evaluation.systems.transformers_process",
            ),
            str(gguf),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            limit=_LINE_BYTES,
        )
        try:
            yield await _TransformersProcess(process, errors).loaded(gguf)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


class _TransformersProcess:
    """One running process. One question at a time."""

    def __init__(self, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self.details: Mapping[str, str] = {}

    async def loaded(self, gguf: Path) -> Program:
        """Wait until the model is loaded."""
        match await self._said():
            case Loaded(details=details):
                self.details = details
                return self
            case Unloadable(message=message):
                raise EvaluationFault(f"transformers cannot load {gguf}: {message}")
            case said:
                raise EvaluationFault(f"the transformers process said {said!r} before it loaded")

    @property
    def pid(self) -> int:
        return self._process.pid

    async def write(self, prompt: Prompt) -> Written:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(prompt) + b"\n")
        with suppress(ConnectionError):  # told by what it says, which is then nothing
            await self._process.stdin.drain()
        said = await self._said()
        if not isinstance(said, Written):
            raise EvaluationFault(f"the transformers process said {said!r} instead of an answer")
        return said

    async def _said(self) -> Said:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            code = await self._process.wait()
            raise EvaluationFault(
                f"the transformers process ended (exit code {code}): {self._last_words()}: "
                "leave this baseline out, or free some memory"
            )
        said: Said = msgspec.json.decode(line, type=Said)
        return said

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
