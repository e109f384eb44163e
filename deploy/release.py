"""Write the repository's address into what is published: ``python deploy/release.py URL TAG``.

The package index and the stores show a README far from its repository: its links become whole ones,
as they were at the tag. The checkout is changed in place; a release is built from a fresh one.
"""

import json
import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s:#]+)([)#])")  # relative: no scheme, no mere anchor
PAGES = {"Homepage": "", "Source": "", "Issues": "/issues", "Changelog": "/blob/{tag}/CHANGELOG.md"}


def with_whole_links(text: str, folder: str, url: str, tag: str) -> str:
    """Return a Markdown text of this folder with links that lead to the repository at the tag."""

    def whole(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        kind = "raw" if before.startswith("!") else "blob"  # a picture's bytes, or a page
        return f"{before}{url}/{kind}/{tag}/{posixpath.normpath(f'{folder}/{target}')}{after}"

    return LINK.sub(whole, text)


def with_urls(project: str, url: str, tag: str) -> str:
    """Return pyproject.toml with the project's addresses."""
    lines = [f'{name} = "{url}{page.format(tag=tag)}"' for name, page in PAGES.items()]
    section = "\n".join(["[project.urls]", *lines])
    return project.replace("[project.scripts]", f"{section}\n\n[project.scripts]", 1)


def with_repository(manifest: str, url: str) -> str:
    """Return the extension's package.json with the same addresses."""
    where = {"type": "git", "url": f"{url}.git", "directory": "editors/vscode"}
    more = {"repository": where, "homepage": url, "bugs": {"url": f"{url}/issues"}}
    return json.dumps({**json.loads(manifest), **more}, indent=2, ensure_ascii=False) + "\n"


def main(url: str, tag: str) -> None:
    changes = {
        "README.md": lambda text: with_whole_links(text, ".", url, tag),
        "editors/vscode/README.md": lambda text: with_whole_links(text, "editors/vscode", url, tag),
        "pyproject.toml": lambda text: with_urls(text, url, tag),
        "editors/vscode/package.json": lambda text: with_repository(text, url),
    }
    for name, change in changes.items():
        path = ROOT / name
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
