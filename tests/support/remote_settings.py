"""The user's remotes.toml as a test writes it."""

from pathlib import Path

from intarsia.engine.remote.settings.remotes import Remote, find_remote


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


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else f"'{value}'"
