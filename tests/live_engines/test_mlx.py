"""Holes filled through mlx-lm's own server on a processor, with the model of `intarsia export hf`.

Few and short: a fill takes many seconds there.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cancel_when import cancelling
from checkout import ROOT
from remote_settings import RemoteSettings

from intarsia.cli.remote.probe import probe
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled, Step
from intarsia.engine.remote.filler import load_remote

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

PYTHON = ROOT / "build" / "servers" / "mlx" / "bin" / "python"
ABOVE = "def mean(values):\n    total = sum(values)\n"
BELOW = "\n\nprint(mean([1, 2]))\n"


@pytest.fixture(scope="module")
def hf_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our default model with its tuning, as other programs load it."""
    folder = tmp_path_factory.mktemp("exported") / "hf"
    subprocess.run([sys.executable, "-P", "-m", "intarsia.cli", "export", "hf", folder], check=True)
    return folder


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteSettings:
    """The user's settings file for this test, without any remote."""
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(folder))
    return RemoteSettings(folder / "remotes.toml")


@pytest.fixture(scope="module")
def url(hf_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the exported model; return the server's address."""
    folder = tmp_path_factory.mktemp("mlx")
    port = free_port()
    command = [PYTHON, "-P", "-m", "mlx_lm", "server", "--model", hf_folder, "--port", str(port)]
    downloads = {"HF_HOME": str(folder / "none"), "HF_HUB_OFFLINE": "1"}
    log = folder / "server.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, stdout=errors, stderr=errors, env=os.environ | downloads) as run,
    ):
        address = f"http://127.0.0.1:{port}"
        try:
            until(lambda: is_up(address) or run.poll() is not None, limit_s=120)
            assert run.poll() is None, log.read_text(errors="replace")[-2_000:]
            yield address
        finally:
            run.kill()


@pytest.fixture
def filler(url: str, settings: RemoteSettings) -> Filler:
    """The filler of a remote at this server."""
    settings.write(url, timeout_s=300)
    return load_remote(EngineConfig(), "there", lambda stage, share: None)


def line(filler: Filler, control: FillControl | None = None, **fields: Any) -> Filled:
    options = {"prefix": ABOVE, "suffix": BELOW, "stop": ("\n",), "max_tokens": 10} | fields
    return filler.fill(Fill(id=1, **options), control or FillControl())


def test_it_is_recognized_though_it_lists_no_model(url: str, settings: RemoteSettings) -> None:
    """Its list is an empty answer where there is no folder of downloads."""
    found = probe(settings.write(url))
    assert found.problem is None
    assert found.server is not None and found.server.system == "MLX"


def test_a_line_is_filled_in_parts_with_its_probabilities(filler: Filler) -> None:
    steps: list[Step] = []
    filled = line(filler, FillControl(on_step=steps.append), prefix=ABOVE + "    ")
    assert "len(values)" in filled.text
    assert filled.text == "".join(token.text for token in filled.tokens)
    assert filled.finish_reason == "end_of_hole"
    assert all(0 < (token.confidence or 0) <= 1 for token in filled.tokens)
    assert filled.num_prefilled + filled.num_reused > 15
    assert steps
    again = line(filler, prefix=ABOVE + "    ")
    assert again.text == filled.text
    assert again.num_prefilled <= 2 < again.num_reused, "what was read is kept"


def test_a_text_goes_on_after_a_part(filler: Filler) -> None:
    """Asked for exactly what it holds already, the server fails: that is never done."""
    filled = line(filler, prefix="# Count: 1, 2, 3,", suffix="\n", stop=(), max_tokens=12)
    assert (filled.finish_reason, filled.num_forwards) == ("max_tokens", 12)
    assert filled.text.startswith(" 4, 5")


def test_a_half_typed_word_is_continued(filler: Filler) -> None:
    whole = line(filler, prefix=ABOVE + "    ").text
    typed = whole[:3]
    assert line(filler, prefix=ABOVE, given="    " + typed).text == whole.removeprefix(typed)


def test_no_blank_is_lost(filler: Filler) -> None:
    """Its own text lacks a blank at the start: " =" comes as "="."""
    text = line(filler, prefix=ABOVE + "    count", max_tokens=3).text
    assert text.startswith(" ")


def test_the_servers_own_text_lacks_it(url: str) -> None:
    """Once it has it, parts are needless: a stream can be cancelled at each token."""
    body = {"prompt": "x = 1\ny", "max_tokens": 1, "temperature": 0.0, "logprobs": True}
    request = urllib.request.Request(
        url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        choice = json.load(answer)["choices"][0]
    assert choice["logprobs"]["content"][0]["id"] == 284, 'the token " ="'
    assert choice["text"] == "="


def test_a_mark_in_the_code_is_never_sent(filler: Filler) -> None:
    with pytest.raises(ValueError, match=r"has <\|fim_middle\|> in it"):
        line(filler, prefix="MARK = '<|fim_middle|>'\n" + ABOVE)


def test_a_cancelled_fill_ends_the_servers_work(filler: Filler) -> None:
    began = threading.Event()
    control = cancelling(began.is_set)
    watched = FillControl(checkpoint=control.checkpoint, on_step=lambda step: began.set())
    with pytest.raises(Cancelled):
        line(filler, watched, prefix="# Count to a thousand: 1, 2,", stop=(), max_tokens=400)
    started_at = time.monotonic()
    assert line(filler, prefix=ABOVE + "    ", max_tokens=2).text
    assert time.monotonic() - started_at < 120, "400 tokens take minutes there"


def free_port() -> int:
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        port: int = probing.getsockname()[1]
    return port


def is_up(url: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(url + "/health", timeout=5) as answer:
        return bool(json.load(answer)["status"] == "ok")
    return False


def until(is_so: Callable[[], bool], *, limit_s: float) -> None:
    end = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.2)
