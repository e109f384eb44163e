"""Files that never reach the model: secrets by default, and the user's own patterns.

A pattern that ends in a slash names a directory. One with a slash elsewhere names a path or the
end of a path, and any other a file name. Case is ignored.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import PurePath

from intarsia.workspace.files.paths import real_path

_DATA = (".json", ".y*ml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".xml", ".csv", ".txt")
_NAMES = ("*credentials", "*secret", "*secrets", "*kubeconfig", "passwords")
_STEMS = (*_NAMES, "client[_-]secret*", "service[_-]account*")
_SECRET_DATA = (*_NAMES, *(f"{stem}{ending}" for stem in _STEMS for ending in _DATA))
"""Data that is named as secrets. Source code of such a name, as credentials.py, is none."""

_SECRET_FILES = (
    "*.env .env* *.key *.pem *.p8 *.p12 *.pfx *.pkcs12 *.jks *.keystore *.kdbx *.keytab *.ovpn"
    " *.token *.secret *.secrets *.ppk *.gpg *.tfvars *.tfvars.json *.tfstate *.tfstate.* auth.json"
    " id_rsa* id_dsa* id_ecdsa* id_ed25519* .netrc _netrc .authinfo .pypirc .npmrc .htpasswd"
    " .pgpass .my.cnf .s3cfg .boto .dockercfg .vault-token .terraformrc .git-credentials"
)
_SECRET_FOLDERS = ".aws/ .gcp/ .azure/ .kube/ .docker/ .ssh/ .gnupg/ secrets/ private/ certs/ keys/"

SECRETS = (*_SECRET_FILES.split(), *_SECRET_DATA, *_SECRET_FOLDERS.split())

_MACOS_REAL_PATHS = ("/private/tmp/", "/private/var/", "/private/etc/")


def excluding_pattern(path: PurePath, patterns: Iterable[str]) -> str | None:
    """Return the first pattern that excludes the file, None where no pattern does."""
    folded = path.as_posix().casefold()
    if folded.startswith(_MACOS_REAL_PATHS):
        folded = folded.removeprefix("/private")
    patterns = tuple(patterns)
    of_names, of_paths = _may_match(patterns)
    if not of_names.match(folded.rpartition("/")[2]) and not of_paths.match(f"/{folded}"):
        return None
    return next((pattern for pattern in patterns if _matches(folded, pattern.casefold())), None)


def excluding_pattern_on_disk(path: PurePath, patterns: Iterable[str]) -> str | None:
    """Return the first pattern that excludes the file, or the one that a link leads to."""
    patterns = tuple(patterns)
    pattern = excluding_pattern(path, patterns)
    return pattern or excluding_pattern(PurePath(real_path(str(path))), patterns)


@lru_cache
def _may_match(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return an expression for names and one for paths, which match at least what all match.

    A walk asks for every file of a workspace, and most match nothing. A path begins with a slash.
    """
    folded = [pattern.casefold() for pattern in patterns]
    names = [pattern for pattern in folded if "/" not in pattern]
    paths = []
    for pattern in folded:
        if "/" in pattern:
            ending = f"{pattern}*" if pattern.endswith("/") else pattern
            paths += [f"/{pattern}", f"*/{ending}"]
    return _any_of(names), _any_of(paths)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def _matches(path: str, pattern: str) -> bool:
    if pattern.endswith("/"):
        return fnmatchcase(path, f"*/{pattern}*")
    if "/" in pattern:
        return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")
    return fnmatchcase(path.rpartition("/")[2], pattern)
