"""Recognizes a text that holds a secret: a key, a token, or a password in plain text.

Such a file is no context for other files. A file that is open is judged by its name alone: its
secret is on the user's screen, and next to what they write.
"""

import re

_SURE = re.compile(
    r"""
    -----BEGIN\ (?:[A-Z0-9]+\ ){0,3}PRIVATE\ KEY
    | PuTTY-User-Key-File-\d
    | \bAGE-SECRET-KEY-1[A-Z0-9]{20}
    | ["']?\btype["']?\s{0,9}[:=]\s{0,9}["']service_account["']
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \b(?:gh[pousr]_[A-Za-z0-9]{20}|github_pat_\w{20}|glpat-[\w-]{16}|npm_[A-Za-z0-9]{30})
    | \b(?:xox[abeoprs]-[\w-]{10}|xapp-\d-[\w-]{10}|hooks\.slack\.com/services/T\w{6})
    | \b(?:[sr]k_(?:live|test)_\w{16}|whsec_\w{16}|shp(?:at|ss|ca)_[0-9a-f]{16})
    | \bsk-(?:proj-|ant-|or-)?(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Z])[\w-]{20}
    | \b(?:AIza[\w-]{35}|ya29\.[\w-]{20}|GOCSPX-[\w-]{20})
    | \b(?:SG\.[\w-]{16,}\.[\w-]{16}|pypi-AgE[\w-]{20}|hf_[A-Za-z]{30}|do[op]_v1_[0-9a-f]{32})
    | \beyJ[\w-]{10,500}\.eyJ[\w-]{10}
    """,
    re.VERBOSE,
)
_SURE_WORDS = (
    *("PRIVATE KEY", "PuTTY-User-Key", "AGE-SECRET", "service_account", "AKIA", "ASIA", "ghp_"),
    *("gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "xox", "xapp-", "sk-"),
    *("hooks.slack.", "k_live_", "k_test_", "whsec_", "shpat_", "shpss_", "shpca_", "AIza", "hf_"),
    *("ya29.", "GOCSPX-", "SG.", "pypi-AgE", "dop_v1_", "doo_v1_", ".eyJ"),
)
"""Each of them has one of these; searching for them first is ten times as fast."""

_KEY = re.compile(
    r"""(?:passw(?:or)?d|passphrase|passwort|pwd|secret|token|credential|connection_?string|auth
    |(?:api|access|account|auth|client|consumer|encryption|master|private|shared|signing|storage
    |secret)(?:[_-]?(?:access|secret))?[_-]?key(?:[_-]base)?)["'\]]{0,2}\s{0,9}\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_KEY_CHARS = 40
_QUOTED = re.compile(r"""(?::=|=>|[:=])[ \t]{0,9}[bru]?["'`]([^\s"'`]{12,400})["'`]""")
_PLAIN = re.compile(
    r"""(?:[:=]|["']\s{1,9}value=)[ \t]{0,9}["']?([^\s"'\[{|>&*!#:=][^\s"',]{5,400})"""
    r"""|>([^<\s]{6,400})<"""
)
_CONNECTION = re.compile(
    r"""[;"']\s?(?i:password|pwd|accountkey|sharedaccesskey)\s?=\s?([^;\s"'<>{}$%]{6,400})[;"'\s]"""
    r"""|://[^\s/:@"'{}$<>]{0,80}:([^\s/:@"'{}$<>%]{6,200})@"""
    r"""|(?i:\b(?:password|identified\ by)\s{1,9}'([^\s']{6,200})')"""
)
_KINDS = re.compile(r"^kind:[ \t]*[\"']?Secret\b", re.MULTILINE)
_PLACEHOLDER = re.compile(
    r"[<{$%(*]|\.\.\.|x{4}|change|example|placeholder|dummy|sample|your|my[_-]?(?:pass|secret|token)"
    r"|test|fake|insert|replace|redacted|todo|none|null|undefined|true|false|^arn:",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"[a-z]+(?:[ ._/:-][a-z]+)*|[A-Z]+(?:[ ._/:-][A-Z]+)*|[A-Za-z]+(?:\.[A-Za-z]+)+"
)


def holds_key(text: str) -> bool:
    """Return whether a text holds a private key or an access token of a well-known form."""
    return any(word in text for word in _SURE_WORDS) and _SURE.search(text) is not None


def holds_secret(text: str, has_bare_values: bool) -> bool:
    """Return whether a text holds a key, a token or a password that looks like a real one.

    ``has_bare_values``: its language needs no quotes around a value.
    """
    if holds_key(text):
        return True
    if has_bare_values and "kind:" in text and _KINDS.search(text):
        return True
    for found in (_PLAIN if has_bare_values else _QUOTED).finditer(text):
        key = text[max(0, found.start() - _KEY_CHARS) : found.start()]
        if _KEY.search(key) and _looks_real(found[found.lastindex or 0]):
            return True
    return any(_looks_real(found[found.lastindex or 0]) for found in _CONNECTION.finditer(text))


def _looks_real(value: str) -> bool:
    """Return whether a value is none that stands for one: no word, no name, no reference."""
    if _PLACEHOLDER.search(value) or _NAMES.fullmatch(value):
        return False
    has_letter = any(map(str.isalpha, value))
    return has_letter and (len(value) > 24 or any(map(str.isdigit, value)))
