"""vLLM's server on this machine's processor; ``make engines`` installs it."""

import contextlib
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checkout import ROOT
from local_server import free_port

SERVER_PYTHON = ROOT / "build" / "servers" / "vllm" / "bin" / "python"
BLOCK_TOKENS = 128
"""Of its prefix cache on a processor: only whole blocks are reused."""

_START_S = 400
_ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # other programs share the cores
    "OMP_NUM_THREADS": "2",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
}
_FLAGS = (
    *("--host", "127.0.0.1", "--dtype", "bfloat16", "--enforce-eager"),
    *("--max-model-len", "4096", "--generation-config", "vllm", "--enable-prompt-tokens-details"),
)


@dataclass(frozen=True, kw_only=True)
class VllmServer:
    """A running server. Its figures are read over its own HTTP API, not through our client."""

    url: str

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=60) as answer:
            lines: str = answer.read().decode()
        found = re.findall(rf"^vllm:{name}\{{.*\}} (\S+)$", lines, re.MULTILINE)
        assert found, f"vLLM has no metric {name}"
        return sum(map(float, found))

    def num_running(self) -> int:
        return int(self.metric("num_requests_running"))

    def num_waiting(self) -> int:
        return int(self.metric("num_requests_waiting"))


@contextlib.contextmanager
def vllm_server(
    folder: Path, log: Path, *, keys: Sequence[str], flags: Sequence[str] = ()
) -> Iterator[VllmServer]:
    """Serve a Hugging Face folder until the block ends; the keys are accepted."""
    port = free_port()
    command = [str(SERVER_PYTHON), "-P", "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(folder), "--port", str(port), *_FLAGS, *flags, "--api-key", *keys]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | _ENVIRONMENT,
            start_new_session=True,  # its workers end with it
        ) as process,
    ):
        server = VllmServer(url=f"http://127.0.0.1:{port}")
        try:
            _wait_until_ready(server, process, log)
            yield server
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _wait_until_ready(server: VllmServer, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text(errors="replace")[-4000:]
        try:
            with urllib.request.urlopen(f"{server.url}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"vLLM is not up after {_START_S} s: {log.read_text()[-4000:]}")
