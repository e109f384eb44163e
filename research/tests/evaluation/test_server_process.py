"""The evaluation's language server: which Python modules it is started from, and where."""

import os
from pathlib import Path

import pytest

from intarsia.engine.ipc.address import Address
from intarsia_research.evaluation.server_process import serving

INITIALIZE = {"processId": None, "rootUri": None, "capabilities": {}}


@pytest.mark.parametrize("python_path", ["", f"{os.pathsep}/none"])
async def test_a_module_in_the_users_folder_is_not_run(
    python_path: str, runtime: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty part of PYTHONPATH is the working folder, which is therefore not the user's."""
    hostile = f"open({str(tmp_path / 'was_run')!r}, 'w').close()\n"
    for module in ("intarsia", "msgspec"):
        (tmp_path / f"{module}.py").write_text(hostile)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", python_path)
    async with serving(runtime.as_environment()) as server:
        answer = await server.request("initialize", INITIALIZE)
    assert answer["serverInfo"]["name"] == "intarsia"
    assert not (tmp_path / "was_run").exists()
