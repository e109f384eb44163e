"""Tells texts that nothing should be learnt from: with secrets, mostly data, or broken."""

import re

from intarsia.infill.languages import Language
from intarsia.infill.syntax.nodes import num_errors
from intarsia.infill.syntax.parse import parse

MAX_ADDRESSES = 5
MAX_DATA_SHARE = 0.3
MAX_ERRORS = 3
LINES_PER_ERROR = 100
LINES_PER_ERROR_WITH_MACROS = 25

_DATA = re.compile(r"0x[0-9a-fA-F]+|\d[\d.eE+-]*|\\[xu][0-9a-fA-F]+")

_SECRET = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY"
    r"|\bA(?:KIA|SIA)[0-9A-Z]{16}\b"  # Amazon
    r"|\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{22,}"
    r"|\bglpat-[A-Za-z0-9_-]{20}"
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|\bAIza[0-9A-Za-z_-]{35}"  # Google
    r"|\b[sr]k_live_[0-9A-Za-z]{20,}"  # Stripe
    r"|\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{40,}"
    r"|\bhf_[A-Za-z0-9]{34}\b|\bpypi-AgE[A-Za-z0-9_-]{50,}|\bnpm_[A-Za-z0-9]{36}\b"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"  # JSON web token
)
_MARKERS = (
    *("PRIVATE KEY", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "AIza", "k_live_", "sk-", "hf_", "pypi-AgE", "npm_", "eyJ"),
)
"""Every secret contains one of these; searching for them first is ten times as fast."""

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,12}\b")
_NO_ADDRESS = re.compile(r"@(?:[\w-]+\.)*(?:example|test|localhost|invalid)\b", re.IGNORECASE)


def contains_secret(text: str) -> bool:
    """Whether a text has a private key, an access token or over MAX_ADDRESSES e-mail addresses."""
    if any(marker in text for marker in _MARKERS) and _SECRET.search(text):
        return True
    if text.count("@") <= MAX_ADDRESSES:
        return False
    addresses = {address for address in _ADDRESS.findall(text) if not _NO_ADDRESS.search(address)}
    return len(addresses) > MAX_ADDRESSES


def is_data(text: str) -> bool:
    """Whether numbers and escaped bytes are too large a share of the text without whitespace."""
    num_chars = sum(map(len, text.split()))
    return sum(map(len, _DATA.findall(text))) > MAX_DATA_SHARE * num_chars


def has_parse_errors(text: str, language: Language) -> bool:
    """Whether a language's parser cannot read the text well enough."""
    if language.grammar is None:
        return False
    syntax = parse(text, language)
    if syntax is None:
        return True
    lines_per_error = LINES_PER_ERROR_WITH_MACROS if language.has_macros else LINES_PER_ERROR
    max_errors = max(MAX_ERRORS if language.has_macros else 1, text.count("\n") // lines_per_error)
    return num_errors(syntax) > max_errors
