"""The backbone alone, run by llama.cpp's server at its ``/infill``, on the same GGUF file.

Starts the server on loopback for the first system that uses it, and ends it with the last one. https://github.com/ggml-org/llama.cpp/tree/master/tools/server
"""

import asyncio
import http.client
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.systems.baseline import Baseline
from intarsia_research.evaluation.systems.baseline_program import NoAnswer, Program, Prompt, Written
from intarsia_research.evaluation.systems.infill_stream import streamed_infill

PROGRAM_VARIABLE = "INTARSIA_LLAMA_SERVER"

_HOST = "127.0.0.1"
_CONTEXT_TOKENS = 8192
_BATCH_TOKENS = 4096  # /infill cuts a prefix to 3/4 of a batch and a suffix to 1/4
_START_TIMEOUT_S = 300.0
_FILL_TIMEOUT_S = 300.0
_POLL_S = 0.1


class _Timings(msgspec.Struct, frozen=True):
    """Milliseconds and tokens as counted by the server."""

    prompt_n: int
    prompt_ms: float
    predicted_ms: float


class _Properties(msgspec.Struct, frozen=True):
    """The fields of the server's properties that are used."""

    build_info: str = "unknown"


class _Infilled(msgspec.Struct, frozen=True):
    """The fields of the server's answer that are used."""

    content: str
    tokens_predicted: int  # including the one that ended the text
    tokens_evaluated: int  # of the whole prompt
    timings: _Timings
    stop_type: str = "none"


def llama_cpp(server: Path, gguf: Path, *, model: str | None = None) -> Baseline:
    """Return the baseline that runs this GGUF file; ``model`` is its name in reports."""
    return Baseline(
        name="llama.cpp", way="llama.cpp", model=model, start=lambda: _started(server, gguf)
    )


def find_llama_server(named: Path | None) -> Path:
    """Return the program named by the user, by the environment or by PATH, in this order.

    Raise EvaluationFault if there is none.
    """
    name = named or os.environ.get(PROGRAM_VARIABLE) or "llama-server"
    found = shutil.which(name)
    if found is None:
        raise EvaluationFault(
            f"no program {name}: build it with "
            "research/evaluation/systems/build_llama_server.sh and give its path with "
            f"--llama-server or {PROGRAM_VARIABLE}"
        )
    return Path(found)


@asynccontextmanager
async def _started(program: Path, gguf: Path) -> AsyncIterator[Program]:
    """Start the server and wait until its model is loaded. Raise EvaluationFault if it fails."""
    port = _free_port()
    with tempfile.TemporaryFile() as errors:
        words = [
            *(str(program), "--model", str(gguf), "--host", _HOST, "--port", str(port)),
            *("--ctx-size", str(_CONTEXT_TOKENS), "--batch-size", str(_BATCH_TOKENS)),
            *("--parallel", "1", "--threads", str(os.cpu_count() or 1)),
            *("--no-webui", "--no-warmup"),
        ]
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=subprocess.DEVNULL, stdout=errors, stderr=subprocess.STDOUT
            )
        except OSError as fault:
            raise EvaluationFault(
                f"{program} cannot be started ({fault.strerror}): name another llama-server"
            ) from fault
        server = _Server(process=process, errors=errors, port=port)
        try:
            await server.wait_until_loaded(gguf)
            server.details = await server.read_details()
            yield server
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


class _Server:
    """A running llama-server."""

    def __init__(
        self, *, process: asyncio.subprocess.Process, errors: IO[bytes], port: int
    ) -> None:
        self._process = process
        self._errors = errors
        self._port = port
        self.details: Mapping[str, str] = {}

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait_until_loaded(self, gguf: Path) -> None:
        """Raise EvaluationFault if the server ends or is too slow."""
        try:
            async with asyncio.timeout(_START_TIMEOUT_S):
                while not await self._is_loaded():  # noqa: ASYNC110 - another process sends no event
                    await asyncio.sleep(_POLL_S)
        except TimeoutError as fault:
            raise EvaluationFault(
                f"llama-server did not load {gguf} within {_START_TIMEOUT_S:.0f} s: "
                f"{self.last_words()}"
            ) from fault

    async def _is_loaded(self) -> bool:
        self.require_running()
        try:
            status, _ = await asyncio.to_thread(self._ask, "GET", "/health", None)
        except OSError:
            return False  # it does not listen yet
        return status == http.client.OK

    async def read_details(self) -> Mapping[str, str]:
        _, answer = await asyncio.to_thread(self._ask, "GET", "/props", None)
        properties = msgspec.json.decode(answer, type=_Properties)
        return {"build": properties.build_info, "context_tokens": str(_CONTEXT_TOKENS)}

    async def write(self, prompt: Prompt) -> Written:
        body = {"input_prefix": prompt.prefix, **_request_fields(prompt)}
        try:
            status, answer = await asyncio.to_thread(
                self._ask, "POST", "/infill", msgspec.json.encode(body)
            )
        except (OSError, http.client.HTTPException) as fault:
            with suppress(TimeoutError):  # it may be about to end
                await asyncio.wait_for(self._process.wait(), 1.0)
            self.require_running()
            reason = str(fault) or type(fault).__name__
            raise NoAnswer(f"llama-server gave no answer: {reason}") from fault
        if status != http.client.OK:
            words = answer.decode("utf-8", "replace")[:200]
            raise NoAnswer(f"llama-server refused the hole (status {status}): {words}")
        return _written(answer)

    def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Yield pieces of the text. Raise NoAnswer.

        The hole's own line follows the suffix, as in llama.cpp's editor plugins: typing on it then
        does not invalidate the cached suffix.
        """
        above, line_end, line = prompt.prefix.rpartition("\n")
        body = {
            "input_prefix": above + line_end,
            "prompt": line,
            "stream": True,
            **_request_fields(prompt),
        }
        return streamed_infill(_HOST, self._port, msgspec.json.encode(body))

    def require_running(self) -> None:
        """Raise EvaluationFault if the server has ended."""
        code = self._process.returncode
        if code is not None:
            raise EvaluationFault(
                f"llama-server ended (exit code {code}): {self.last_words()}: "
                "leave this baseline out, or check its program and the model"
            )

    def last_words(self) -> str:
        """Return the last line that the server printed."""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(_HOST, self._port, timeout=_FILL_TIMEOUT_S)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


def _request_fields(prompt: Prompt) -> dict[str, object]:
    return {
        "input_suffix": prompt.suffix,
        "n_predict": prompt.max_tokens,
        "temperature": 0,
        "stop": prompt.stop,
        "cache_prompt": True,
    }


def _written(answer: bytes) -> Written:
    try:
        infilled = msgspec.json.decode(answer, type=_Infilled)
    except msgspec.DecodeError as fault:
        raise NoAnswer(f"llama-server's answer cannot be read: {fault}") from fault
    is_ended = infilled.stop_type in ("eos", "word")
    return Written(
        text=infilled.content,
        ms=infilled.timings.prompt_ms + infilled.timings.predicted_ms,
        read_ms=infilled.timings.prompt_ms,
        num_forwards=max(
            0, infilled.tokens_predicted - 1
        ),  # the first token comes with the prefill
        num_tokens=max(0, infilled.tokens_predicted - is_ended),
        num_read=infilled.timings.prompt_n,
        num_reused=infilled.tokens_evaluated - infilled.timings.prompt_n,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port
