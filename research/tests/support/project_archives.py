"""A table of small packages in archives, from which the sets of packages cut their holes."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from intarsia_research.corpus.npm import registry_url
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.package_cases import PROJECT, PackageSet, package_cases
from intarsia_research.evaluation.sets.project_packages import PackageSource


class Archives:
    """Packages in archives; ``read`` gives them and their index, and counts the archives."""

    def __init__(self, folder: Path, which: PackageSet = PROJECT) -> None:
        self.folder = folder
        self._which = which
        self.pages: dict[str, bytes] = {}
        self.rows: list[str] = []
        self.num_read = 0

    def add(self, name: str, language: str, data: bytes, *, folders: str = "[]") -> None:
        url = f"https://files.invalid/{name}.tgz"
        self.pages[url] = data
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        about = {"version": "1", "dist": {"tarball": url, "integrity": integrity}}
        self.pages[f"{registry_url()}/{quote(name, safe='@')}/1"] = json.dumps(about).encode()
        self.rows.append(
            f'[[package]]\nname = "{name}"\necosystem = "npm"\nversion = "1"\n'
            f'language = "{language}"\nlicence = "MIT"\nfirst_released = "2025"\n'
            f'sha256 = "{hashlib.sha256(data).hexdigest()}"\nfolders = {folders}\n'
        )

    def read(self, url: str) -> bytes:
        self.num_read += url.endswith(".tgz")
        return self.pages[url]

    def cases(self, cache: str = "cache", **changed: Any) -> list[Case]:
        table = self.folder / "table.toml"
        table.write_text("\n".join(self.rows))
        read = changed.pop("read", self.read)
        source = PackageSource(cache=self.folder / cache, read=read, table=table)
        asked = {"languages": None, "kinds": None, "limit": None, "seed": 7}
        return package_cases(self._which, source, **(asked | changed))
