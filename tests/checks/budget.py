"""Lines and files of each part of the tree, and its budget: `[tool.intarsia.budget]`.

`make lint` fails where a part exceeds its budget. Take something out, or raise the number in a
commit that says why. `make figures` prints the same table, and what is in the wheel.
"""

import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ("builtin_files", "samples")  # files to measure with and to show, not to read


def part_of(path: Path) -> str | None:
    """Return the part that a file of code counts for, None for data and for recorded pictures."""
    if path.parts[0] == "editors":
        return "editors" if path.suffix in (".ts", ".lua") else None
    if path.suffix != ".py" or set(DATA) & set(path.parts):
        return None
    if "tests" in path.parts or path.name == "conftest.py":
        return "tests"
    top = path.parts[0]
    return {"research": "research", "docs": None}.get(top, "product")


def sizes() -> dict[str, tuple[int, int]]:
    """Return the lines and files of each part, of what git tracks or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {"product": (0, 0), "research": (0, 0), "tests": (0, 0), "editors": (0, 0)}
    for path in {Path(name) for name in listed.split("\0") if name}:
        part = part_of(path)
        if part and (ROOT / path).is_file():
            lines, files = found[part]
            found[part] = (lines + (ROOT / path).read_bytes().count(b"\n"), files + 1)
    return found


def excess(found: Mapping[str, tuple[int, int]], budget: Mapping[str, list[int]]) -> list[str]:
    """Return a line for each number that is over its budget."""
    return [
        f"{part}: {have:,} {what}, budget {may:,}"
        for part, numbers in found.items()
        for have, may, what in zip(numbers, budget[part], ("lines", "files"), strict=True)
        if have > may
    ]


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    budget, found = project["intarsia"]["budget"], sizes()
    for part, (lines, files) in found.items():
        may_lines, may_files = budget[part]
        print(f"{part:9}{lines:>7,} of {may_lines:,} lines {files:>4} of {may_files} files")
    if "--wheel" in sys.argv:
        packages = project["setuptools"]["packages"]
        parts = sorted({name.split(".")[1] for name in packages})
        print(f"wheel    {', '.join(parts)}: {len(packages)} packages")
    over = excess(found, budget)
    if over:
        print("Over the budget, take something out:", *over, sep="\n", file=sys.stderr)
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
