"""An opened folder, and what the user excludes in it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RootSettings:
    """An opened folder and the user's settings for it."""

    path: str
    exclude: tuple[str, ...] = ()  # patterns, as in ``exclusion``
    exclude_secrets: bool = True
    excluded_paths: tuple[str, ...] = ()  # files and folders, by their absolute paths
