"""Small repositories in a made-up convention: what stands in a hole follows from its file."""

from itertools import product
from pathlib import Path

_NAMES = ("alpha", "beta")


def convention(names: tuple[str, ...]) -> str:
    """Return a file of functions, each of which calls what it is named after."""
    return "\n\n".join(f"def {name}(box):\n    return box.{name}(box)\n" for name in names)


def write_repository(root: Path, *, num_files: int = 96) -> Path:
    """Write so many files of that kind (96 at most) below a folder; all are different."""
    texts = [convention(names) for length in (5, 6) for names in product(_NAMES, repeat=length)]
    for number, text in enumerate(list(dict.fromkeys(texts))[:num_files]):
        write(root, f"part{number % 7}/module{number}.py", text)
    return root


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write one file."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file
