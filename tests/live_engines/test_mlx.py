"""Holes filled through mlx-lm's own server on a processor, with the model of `intarsia export hf`.

Few and short: a fill takes many seconds there.
"""

import contextlib
import json
import os
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cancel_when import cancelling
from checkout import ROOT
from local_server import free_port, wait_until
from remote_settings import RemoteSettings

from intarsia.cli.remote import probe
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
def url(tuned_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the exported model; return the server's address."""
    folder = tmp_path_factory.mktemp("mlx")
    port = free_port()
    command = [PYTHON, "-P", "-m", "mlx_lm", "server", "--model", tuned_folder, "--port", str(port)]
    downloads = {"HF_HOME": str(folder / "none"), "HF_HUB_OFFLINE": "1"}
    log = folder / "server.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, stdout=errors, stderr=errors, env=os.environ | downloads) as run,
    ):
        address = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: is_up(address) or run.poll() is not None)
            assert run.poll() is None, log.read_text(errors="replace")[-2_000:]
            yield address
        finally:
            run.kill()


@pytest.fixture
def filler(url: str, settings: RemoteSettings) -> Filler:
    """The filler of a remote at this server, which lists no model without a folder of downloads."""
    found = probe(settings.write(url, timeout_s=300))
    assert found.problem is None and found.server is not None and found.server.system == "MLX"
    return load_remote(EngineConfig(), "there", lambda stage, share: None)


def line(filler: Filler, control: FillControl | None = None, **fields: Any) -> Filled:
    options = {"prefix": ABOVE, "suffix": BELOW, "stop": ("\n",), "max_tokens": 10} | fields
    return filler.fill(Fill(id=1, **options), control or FillControl())


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


def test_a_cancelled_fill_ends_the_servers_work(filler: Filler) -> None:
    began = threading.Event()
    control = cancelling(began.is_set)
    watched = FillControl(checkpoint=control.checkpoint, on_step=lambda step: began.set())
    with pytest.raises(Cancelled):
        line(filler, watched, prefix="# Count to a thousand: 1, 2,", stop=(), max_tokens=400)
    started_at = time.monotonic()
    assert line(filler, prefix=ABOVE + "    ", max_tokens=2).text
    assert time.monotonic() - started_at < 120, "400 tokens take minutes there"


def is_up(url: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(url + "/health", timeout=5) as answer:
        return bool(json.load(answer)["status"] == "ok")
    return False
