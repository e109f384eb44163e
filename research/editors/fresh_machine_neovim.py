"""From a fresh machine to the first accepted suggestion in Neovim, in seconds, stage by stage.

Fresh means: a clone of this repository, an empty home, an empty model cache, nothing but a Python
and a Neovim. What the plugin's README says is done: one command, two lines of init.lua, then
typing and the key that accepts. Where this machine looks for packages is no part of its freshness.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headless_nvim import ATTACHED, TEXT, headless_nvim
from temporary_address import temporary_address

REPOSITORY = Path(__file__).parents[2]
SUM = 'def add(left, right):\n    """Return the sum of left and right."""\n    return\n'
INIT = """vim.opt.runtimepath:prepend("{clone}/editors/nvim")
require("intarsia").setup()
"""
LIMIT_S = 60


def main() -> None:
    """Do it, print seconds per stage as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="int-"))
    try:
        stages = _first_suggestion(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    figures = {name: round(seconds, 1) for name, seconds in stages.items()}
    figures["all"] = round(sum(stages.values()), 1)
    written = json.dumps(figures)
    sys.stdout.write(written + "\n")
    if arguments.json is not None:
        arguments.json.write_text(written)


def _first_suggestion(home: Path) -> dict[str, float]:
    clone, stages = home / "intarsia", {}
    with temporary_address() as address:
        own = {
            **address.as_environment(),
            "INTARSIA_CACHE_DIR": str(home / "cache"),
            "INTARSIA_LOG_DIR": str(home / "log"),
        }
        environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", **own}
        # The Python that this one was made from, and pip's settings of this machine.
        python = Path(sys.base_prefix) / "bin" / "python3"
        for settings in (Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"):
            if settings.exists():
                environment["PIP_CONFIG_FILE"] = str(settings)
        started = time.monotonic()

        def lap(stage: str) -> None:
            nonlocal started
            stages[stage], started = time.monotonic() - started, time.monotonic()

        subprocess.run(["git", "clone", "-q", REPOSITORY, clone], check=True)
        lap("cloning")
        make = ["make", "-s", "-C", clone, f"PYTHON={python}"]
        for target, stage in (("setup", "making the environment"), ("pull", "fetching the model")):
            subprocess.run([*make, target], env=environment, check=True, stdout=subprocess.DEVNULL)
            lap(f"{stage}, with what it downloads")
        init, file = home / "init.lua", home / "example.py"
        init.write_text(INIT.format(clone=clone))
        file.write_text(SUM)
        with headless_nvim(home, file, init, own) as nvim:
            nvim.until(ATTACHED)
            lap("starting Neovim")
            nvim.keys("3GA ")
            nvim.until("require('intarsia').is_shown()", seconds=LIMIT_S)
            lap("the first suggestion")
            nvim.keys("<M-l>")
            nvim.until(f"{TEXT}:find('return left + right', 1, true)")
            lap("accepting it")
    return stages


if __name__ == "__main__":
    main()
