"""Which folder a file belongs to, where no editor says which folder is open."""

from pathlib import Path

MARKERS = (
    ".git",
    ".hg",
    ".svn",
    "pyproject.toml",
    "setup.py",
    "package.json",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "pubspec.yaml",
    "Package.swift",
    "CMakeLists.txt",
)
_VERSION_CONTROL = MARKERS[:3]


def opened_folder(file: Path) -> Path:
    """Return the repository of a file, else the nearest folder of a project, else its own folder.

    The user's home and the folders above it are never returned for a file further down.
    """
    own = file.resolve().parent
    home = Path.home()
    above = [folder for folder in (own, *own.parents) if not home.is_relative_to(folder)]
    for markers in (_VERSION_CONTROL, MARKERS):
        for folder in above:
            if any((folder / marker).exists() for marker in markers):
                return folder
    return own
