"""Neovim with a real language server beside ours, which knows what may follow a dot."""

import json
import sys
import tempfile
from pathlib import Path

import pytest
from headless_nvim import ATTACHED
from neovim_terminal import neovim_terminal

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]

SERVER = [str(Path(sys.executable).with_name("intarsia")), "serve"]
DEPOT = """class Depot:
    def put_away_for_good(self, item): ...
    def fetch_back(self, name): ...
"""
STORE = '''from depot import Depot


def store(depot: Depot, item):
    """Put the item into the depot."""
    depot
'''
PYLSP = f"""
  vim.lsp.config("pylsp", {{
    cmd = {{ {json.dumps(sys.executable)}, "-m", "pylsp" }},
    filetypes = {{ "python" }},
  }})
  vim.lsp.enable("pylsp")
"""
# The first completion loads what it completes by, which takes seconds.
WARM_UP = """
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), 9 })
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  vim.lsp.buf_request_sync(0, "textDocument/completion", params, 60000)
"""


def test_a_suggestion_begins_with_a_member_that_another_server_knows(
    tmp_path: Path, real_engine_runtime
) -> None:
    (tmp_path / "depot.py").write_text(DEPOT)
    file = tmp_path / "store.py"
    file.write_text(STORE)
    settings = {"deadlineMs": 60_000, "projectContext": False, "showThreshold": 0}
    folder = Path(tempfile.mkdtemp(prefix="nvim", dir=real_engine_runtime.directory))
    options, variables = {"cmd": SERVER, "settings": settings}, real_engine_runtime.as_environment()
    with neovim_terminal(folder, file, options, variables, before=PYLSP) as terminal:
        terminal.nvim.until(ATTACHED)
        terminal.nvim.until("(vim.lsp.get_clients({ name = 'pylsp' })[1] or {}).initialized")
        terminal.nvim.run(WARM_UP)
        terminal.keys("GA.")
        # Where that server is late, the suggestion is written again in idle time.
        terminal.until(lambda: terminal.suggested().startswith("put_away_for_good("))
