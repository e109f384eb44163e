"""Files that never reach the model: secrets by default, and the user's own patterns.

A pattern that ends in a slash names a directory. One with a slash elsewhere names a path or the
end of a path, and any other a file name. Case is ignored. The patterns of secrets also name copies:
``secrets.prod.yaml``, ``server.key.old``. They leave out ``.env.example``, which has none.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import PurePath
from typing import TypeAlias

from intarsia.workspace.files.paths import real_path

_DATA = (
    *("json", "yml", "yaml", "toml", "ini", "cfg", "conf", "config", "properties", "xml", "csv"),
    "txt",
)
_NAMES = (
    *("*credential", "*credentials", "*secret", "*secrets", "*kubeconfig", "passwd", "token"),
    *("password", "passwords", "*[_-]password", "*[_-]passwords", "*[_-]token"),
    *("*api[_-]key", "*api[_-]keys", "*apikey", "*apikeys"),
)
_STEMS = (
    *("key", "*[_-]key", "*access[_-]keys", "*privatekey", "oauth", "oauth2", "auth", "vault"),
    *("*access[_-]tokens", "*auth[_-]tokens", "*api[_-]tokens", "client[_-]secret*", "*.env"),
    *("clientsecret*", "service[_-]account*", "serviceaccount*", "*firebase-adminsdk*"),
)
_SECRET_DATA = (*_NAMES, *(f"{stem}.{end}" for stem in (*_NAMES, *_STEMS) for end in _DATA))
"""Data files named like secrets. Source code of such a name, as credentials.py, is none."""

_SECRET_FILES = (
    "*.env .env* env *.key *.pem *.p8 *.p12 *.pfx *.pkcs12 *.jks *.jceks *.bks *.keystore *.kdbx"
    " *.keytab *.agekey *.ovpn *.token *.secret *.secrets *.secret.exs *.ppk *.gpg"
    " *.tfvars *.tfvars.json *.tfstate *.tfstate.* .terraformrc pulumi.*.yaml pulumi.*.yml"
    " id_rsa* id_dsa* id_ecdsa* id_ed25519* *_rsa *_dsa *_ecdsa *_ed25519 ssh_host_*_key .rhosts"
    " .netrc _netrc .authinfo .pypirc .npmrc .yarnrc.yml pip.conf pip.ini nuget.config .htpasswd"
    " .htdigest .pgpass pgpass.conf .my.cnf .mylogin.cnf .s3cfg .boto .passwd-s3fs rclone.conf"
    " .git-credentials .dockercfg .dockerconfigjson dockerconfig.json .flaskenv local.settings.json"
    " appsettings.*.json docker-compose.override.y*ml compose.override.y*ml gradle.properties"
    " local.properties keystore.properties google-services.json googleservice-info.plist"
    " .vault-token *vault_pass* *vault-pass* tokens.yml tokens.yaml tokens.toml tokens.txt"
    " *.mobileprovision *_history *dump*.sql *.dump backup*.sql"
)
_SECRET_FOLDERS = (
    ".aws/ .gcp/ .azure/ .kube/ .oci/ .docker/ .ssh/ .gnupg/ .password-store/ .chef/ .terraform.d/"
    " .config/gh/ .config/hub .config/gcloud/ .config/rclone/ .config/doctl/ .config/glab-cli/"
    " .m2/settings.xml .m2/settings-security.xml secrets/ private/ certs/ keys/"
)

SECRETS = (*_SECRET_FILES.split(), *_SECRET_DATA, *_SECRET_FOLDERS.split())
_SECRETS = frozenset(SECRETS)

_COPY = re.compile(
    r"(?:~|[._ -]?\d+|[._ -](?:bak|backup|old|orig|save|saved|copy|tmp|swp|prod"
    r"|production|stage|staging|dev|development|local|test|qa|live|enc|encrypted|dec|decrypted|sops|values))+(?=\.\w+\Z|\Z)"
)
"""Additions to the name of a secret's copy: for another day, or for one of several systems."""

_ENVIRONMENT = (".env*", "*.env", "env")
_ENVIRONMENT_TEMPLATE = re.compile(
    r"\.?env(?:[._-]\w+)?[._-](?:dist|example|sample|template|tmpl)(?:\.(?:erb|j2|tpl))?"
    r"|\.?(?:example|sample|template)\.env"
)
"""Names of files that show which settings an environment has, and are shared with the code."""

_MACOS_REAL_PATHS = ("/private/tmp/", "/private/var/", "/private/etc/")


def excluding_pattern(path: PurePath, patterns: Iterable[str]) -> str | None:
    """Return the first pattern that excludes the file, None where no pattern does."""
    folded = path.as_posix().casefold()
    if folded.startswith(_MACOS_REAL_PATHS):
        folded = folded.removeprefix("/private")
    patterns = tuple(patterns)
    folder, slash, name = folded.rpartition("/")
    if _ENVIRONMENT_TEMPLATE.fullmatch(name):
        patterns = _for_template(patterns)
    if (pattern := _first_match(folded, patterns)) is not None:
        return pattern
    original = _COPY.sub("", name)
    return (
        _first_match(folder + slash + original, _secrets_in(patterns)) if original != name else None
    )


def excluding_pattern_on_disk(path: PurePath, patterns: Iterable[str]) -> str | None:
    """Return the first pattern that excludes the file, or the one that a link leads to."""
    patterns = tuple(patterns)
    pattern = excluding_pattern(path, patterns)
    return pattern or excluding_pattern(PurePath(real_path(str(path))), patterns)


def _first_match(folded: str, patterns: tuple[str, ...]) -> str | None:
    of_endings, of_names, of_paths = _may_match(patterns)
    name = folded.rpartition("/")[2]
    of_ending = of_endings.get(name.rpartition(".")[2], of_names)
    if of_ending.match(name) or of_names.match(name) or of_paths.match(f"/{folded}"):
        return next((it for it in patterns if _matches(folded, it.casefold())), None)
    return None


@lru_cache
def _secrets_in(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pattern for pattern in patterns if pattern in _SECRETS)


@lru_cache
def _for_template(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the patterns without those of secrets that name environments; a user's own stay."""
    kept = [*reversed(patterns)]  # a user's patterns come first
    for pattern in _ENVIRONMENT if _SECRETS.issubset(patterns) else ():
        kept.remove(pattern)
    return tuple(reversed(kept))


_Expressions: TypeAlias = tuple[dict[str, re.Pattern[str]], re.Pattern[str], re.Pattern[str]]


@lru_cache
def _may_match(patterns: tuple[str, ...]) -> _Expressions:
    """Return expressions for names by their endings, for other names, and for paths.

    They match at least what all patterns match. A walk asks for every file of a workspace, and most
    match nothing. A path begins with a slash.
    """
    by_ending: dict[str, list[str]] = {}
    names, paths = [], []
    for pattern in (pattern.casefold() for pattern in patterns):
        ending = pattern.rpartition(".")[2]
        if "/" in pattern:
            within = f"{pattern}*" if pattern.endswith("/") else pattern
            paths += [f"/{pattern}", f"*/{within}"]
        elif ending.isalnum():
            by_ending.setdefault(ending, []).append(pattern)
        else:
            names.append(pattern)
    of_endings = {ending: _any_of(those) for ending, those in by_ending.items()}
    return of_endings, _any_of(names), _any_of(paths)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def _matches(path: str, pattern: str) -> bool:
    if pattern.endswith("/"):
        return fnmatchcase(path, f"*/{pattern}*")
    if "/" in pattern:
        return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")
    return fnmatchcase(path.rpartition("/")[2], pattern)
