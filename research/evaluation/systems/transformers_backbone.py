"""The backbone alone, decoded token by token by transformers in its own process.

Imports no torch: ``transformers_process`` does.
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

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.systems.baseline import Baseline
from intarsia_research.evaluation.systems.baseline_program import Program, Prompt, Written
from intarsia_research.evaluation.systems.transformers_protocol import (
    LoadFailed,
    ModelLoaded,
    Reply,
)

_LINE_BYTES = 16 * 1024**2
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",  # everything is in the one file
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
}


def transformers_backbone(gguf: Path, *, model: str | None = None) -> Baseline:
    """Return the baseline that runs this GGUF file; ``model`` is its name in reports."""
    path = gguf.absolute()  # the process has another working folder
    return Baseline(
        name="transformers", way="transformers", model=model, start=lambda: _started(path)
    )


@asynccontextmanager
async def _started(gguf: Path) -> AsyncIterator[Program]:
    """Start the process and wait until its model is loaded. Raise EvaluationFault if it fails."""
    with (
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder,
    ):
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-P",
                "-m",
                "intarsia_research.evaluation.systems.transformers_process",
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
    """One running process. One prompt at a time."""

    def __init__(self, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self.details: Mapping[str, str] = {}

    async def loaded(self, gguf: Path) -> Program:
        """Return this program after its model is loaded. Raise EvaluationFault if that fails."""
        match await self._reply():
            case ModelLoaded(details=details):
                self.details = details
                return self
            case LoadFailed(message=message):
                raise EvaluationFault(f"transformers cannot load {gguf}: {message}")
            case reply:
                raise EvaluationFault(f"the transformers process sent {reply!r} before it loaded")

    @property
    def pid(self) -> int:
        return self._process.pid

    async def write(self, prompt: Prompt) -> Written:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(prompt) + b"\n")
        with suppress(ConnectionError):  # seen below: there is no reply
            await self._process.stdin.drain()
        reply = await self._reply()
        if not isinstance(reply, Written):
            raise EvaluationFault(f"the transformers process sent {reply!r} instead of an answer")
        return reply

    async def _reply(self) -> Reply:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            code = await self._process.wait()
            raise EvaluationFault(
                f"the transformers process ended (exit code {code}): {self._last_words()}: "
                "leave this baseline out, or free some memory"
            )
        reply: Reply = msgspec.json.decode(line, type=Reply)
        return reply

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"
