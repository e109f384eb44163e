"""Packages made in a test, and a net that they lie in: addresses → bytes."""

import base64
import gzip
import hashlib
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field

from intarsia_research.corpus.fetch import NotThere
from intarsia_research.corpus.npm import registry_url
from intarsia_research.corpus.pypi import index_url

DEBIAN = "https://deb.debian.org/debian"
PERMISSIVE_METADATA = "Metadata-Version: 2.4\nName: small\nLicense-Expression: MIT\n\nSmall.\n"


def zip_bytes(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def tar_bytes(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(out.getvalue(), mtime=0)


@dataclass
class SmallNet:
    """``read`` answers as the real addresses would, and remembers what it was asked."""

    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    _paragraphs: dict[str, list[str]] = field(
        default_factory=lambda: {"trixie": [], "bookworm": []}
    )

    def read(self, url: str) -> bytes:
        self.asked.append(url)
        if url not in self.pages:
            raise NotThere(f"nothing is to be had at {url} (404)")
        return self.pages[url]

    def add_wheel(self, name: str, files: Mapping[str, str]) -> None:
        files = {f"{name}-1.0.dist-info/METADATA": PERMISSIVE_METADATA, **files}
        self._add_to_pypi(name, f"{name}-1.0-py3-none-any.whl", zip_bytes(files))

    def add_sdist(self, name: str, files: Mapping[str, str]) -> None:
        whole = {"PKG-INFO": PERMISSIVE_METADATA, **files}
        data = tar_bytes({f"{name}-1.0/{path}": text for path, text in whole.items()})
        self._add_to_pypi(name, f"{name}-1.0.tar.gz", data)

    def add_npm(self, name: str, files: Mapping[str, str], *, licence: object = "MIT") -> None:
        package = json.dumps({"name": name, "version": "2.0.0", "license": licence})
        whole = {"package.json": package, **files}
        data = tar_bytes({f"package/{path}": text for path, text in whole.items()})
        url = f"{registry_url()}/{name}/-/{name}-2.0.0.tgz"
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        about = {"version": "2.0.0", "dist": {"tarball": url, "integrity": integrity}}
        for version in ("latest", "2.0.0"):
            page = f"{registry_url()}/{name}/{version}"
            self.pages[page] = json.dumps(about).encode()
        self.pages[url] = data

    def add_debian(
        self,
        name: str,
        files: Mapping[str, str],
        *,
        copyright_text: str,
        version: str = "3",
        suite: str = "trixie",
    ) -> None:
        original = tar_bytes({f"{name}-{version}/{path}": text for path, text in files.items()})
        packaging = tar_bytes({"debian/copyright": copyright_text})
        folder = f"pool/main/{name}"
        names = {
            f"{name}_{version}.orig.tar.gz": original,
            f"{name}_{version}-1.debian.tar.gz": packaging,
        }
        for file_name, data in names.items():
            self.pages[f"{DEBIAN}/{folder}/{file_name}"] = data
        rows = "\n".join(
            f" {hashlib.sha256(data).hexdigest()} {len(data)} {file_name}"
            for file_name, data in names.items()
        )
        self._paragraphs[suite].append(
            f"Package: {name}\nVersion: {version}-1\nChecksums-Sha256:\n{rows}\nDirectory: {folder}"
        )
        for known, paragraphs in self._paragraphs.items():
            index = f"{DEBIAN}/dists/{known}/main/source/Sources.xz"
            self.pages[index] = lzma.compress("\n\n".join(paragraphs).encode())

    def _add_to_pypi(self, name: str, file_name: str, data: bytes) -> None:
        url = f"https://files.pythonhosted.org/packages/{file_name}"
        self.pages[url] = data
        hashes = {"sha256": hashlib.sha256(data).hexdigest()}
        file = {"url": url, "filename": file_name, "hashes": hashes}
        self.pages[f"{index_url()}/{name}/"] = json.dumps({"files": [file]}).encode()
