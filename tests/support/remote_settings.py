"""The user's remotes.toml as a test writes it, and a small hole to be filled there."""

from pathlib import Path

import pytest

from intarsia.engine.ipc.messages import Fill
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.remote.http.remotes import Remote, find_remote

HOLE = Fill(id=1, prefix="def f():\n", suffix="\n", stop=("\n",), max_tokens=8)


class RemoteSettings:
    """Writes settings files with one remote called "there"."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, url: str, **settings: object) -> Remote:
        """Replace the file; return the remote that is read from it."""
        values = {"url": url, **settings}
        lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
        self.path.write_text("[there]\n" + "\n".join(lines) + "\n")
        self.path.chmod(0o600)
        return find_remote("there", self.path)

    def filler(self, url: str, **settings: object) -> RemoteFiller:
        """Replace the file; return what fills through the remote."""
        return RemoteFiller(self.write(url, **settings), max_context_tokens=2_048)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteSettings:
    """The user's settings file for this test, without any remote."""
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(folder))
    return RemoteSettings(folder / "remotes.toml")


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else f"'{value}'"
