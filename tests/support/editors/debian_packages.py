"""Fetches editors from newer Debian releases into build/editors: ``python debian_packages.py``.

Helix, with the C library that it needs, and lsp-mode 10. Each file's SHA-256 is checked against its
release's index, which is read over https. Needs ``dpkg-deb``; nothing is installed.
"""

import hashlib
import lzma
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MIRROR = "https://deb.debian.org/debian"
EDITORS = Path(__file__).parents[3] / "build" / "editors"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
RUN_HELIX = f"""#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/../debian
export HELIX_RUNTIME="$here/usr/lib/hx/runtime"
exec "$here/{LIBRARIES}/ld-linux-x86-64.so.2" --library-path "$here/{LIBRARIES}" \\
  "$here/usr/lib/hx/hx" "$@"
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """Where a package is on the mirror, and what its file's hash is."""

    path: str
    sha256: str


def main() -> int:
    helix, lsp_mode = EDITORS / "bin" / "hx", EDITORS / "lsp-mode"
    if not helix.exists():
        _unpack("trixie", ("hx", "libc6", "libgcc-s1"), EDITORS / "debian")
        helix.parent.mkdir(parents=True, exist_ok=True)
        helix.write_text(RUN_HELIX)
        helix.chmod(0o755)
    if not lsp_mode.exists():
        with tempfile.TemporaryDirectory() as folder:
            _unpack("sid", ("elpa-lsp-mode",), Path(folder))
            (source,) = Path(folder).glob("usr/share/emacs/site-lisp/elpa-src/lsp-mode-*")
            shutil.copytree(source, lsp_mode)
    return 0


def _unpack(release: str, names: Sequence[str], into: Path) -> None:
    index = dict(_packages(release))
    into.mkdir(parents=True, exist_ok=True)
    for name in names:
        package = index[name]
        content = _read(f"{MIRROR}/{urllib.parse.quote(package.path)}")
        if hashlib.sha256(content).hexdigest() != package.sha256:
            raise SystemExit(f"{name}: the file is not the one that Debian {release} names")
        with tempfile.NamedTemporaryFile(suffix=".deb") as file:
            file.write(content)
            file.flush()
            subprocess.run(["dpkg-deb", "--extract", file.name, into], check=True)


def _packages(release: str) -> Iterator[tuple[str, Package]]:
    index = lzma.decompress(_read(f"{MIRROR}/dists/{release}/main/binary-amd64/Packages.xz"))
    for record in index.decode().split("\n\n"):
        fields = _fields(record)
        if "Package" in fields:
            yield fields["Package"], Package(path=fields["Filename"], sha256=fields["SHA256"])


def _fields(record: str) -> Mapping[str, str]:
    lines = (line.split(": ", 1) for line in record.splitlines() if not line.startswith(" "))
    return {line[0]: line[1] for line in lines if len(line) == 2}


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=120) as answer:
        return bytes(answer.read())


if __name__ == "__main__":
    sys.exit(main())
