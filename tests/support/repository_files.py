"""Small repositories in a made-up convention: what stands in a hole follows from its file."""

import hashlib
from itertools import product
from pathlib import Path

from intarsia.training.repository_files import SourceFile

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
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def source_file(text: str, *, path: str = "src/a.py", language: str = "python") -> SourceFile:
    return SourceFile(
        package_name="small",
        path=path,
        language=language,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )


def functions(*names: str) -> str:
    """Return a Python file of functions whose words are different for different names."""
    return "\n\n".join(
        f"def {name}(first_{name}, second_{name}):\n"
        f'    """Return the {name} of both."""\n'
        f"    total_{name} = first_{name} + second_{name}\n"
        f"    for step_{name} in range(total_{name}):\n"
        f"        total_{name} -= step_{name} * second_{name}\n"
        f"    return total_{name}\n"
        for name in names
    )
