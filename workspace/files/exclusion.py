"""Files that never reach the model: secrets by default, and the user's own patterns.

A pattern that ends in a slash names a directory. One with a slash elsewhere names a path or the
end of a path, and any other a file name. Case is ignored.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import PurePath

SECRETS = (
    "*.env",
    ".env*",
    "*.key",
    "*.pem",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.token",
    "*.secret",
    "*.secrets",
    "*.ppk",
    "*.gpg",
    "auth.json",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    ".aws/",
    ".gcp/",
    ".azure/",
    ".kube/",
    ".docker/",
    ".ssh/",
    ".gnupg/",
    "secrets/",
    "private/",
    "certs/",
    "keys/",
)

_MACOS_REAL_PATHS = ("/private/tmp/", "/private/var/", "/private/etc/")


def excluding_pattern(path: PurePath, patterns: Iterable[str]) -> str | None:
    """Return the first pattern that excludes the file, None where no pattern does."""
    folded = path.as_posix().casefold()
    if folded.startswith(_MACOS_REAL_PATHS):
        folded = folded.removeprefix("/private")
    patterns = tuple(patterns)
    if not any(map(_may_match(patterns).match, (folded, f"/{folded}"))):
        return None
    return next((pattern for pattern in patterns if _matches(folded, pattern.casefold())), None)


@lru_cache
def _may_match(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return one expression for all patterns, which matches at least what they match.

    A walk asks for every file of a workspace, and most match nothing.
    """
    words = []
    for pattern in patterns:
        folded = pattern.casefold()
        words += [folded, f"*/{folded}*" if folded.endswith("/") else f"*/{folded}"]
    return re.compile("|".join(map(translate, words)) or r"(?!)")


def _matches(path: str, pattern: str) -> bool:
    if pattern.endswith("/"):
        return fnmatchcase(path, f"*/{pattern}*")
    if "/" in pattern:
        return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")
    return fnmatchcase(path.rpartition("/")[2], pattern)
