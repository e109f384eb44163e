"""Read a package's licence metadata as an SPDX expression of permissive licences.

An unknown licence counts as not permitted: no code is taken on a guess. Knows no archives.
"""

import re
from collections.abc import Iterable

PERMITTED = (
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "PSF-2.0",
    "Unlicense",
    "Zlib",
)

_OTHER_NAMES = {
    "apache 2": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache software license 2.0": "Apache-2.0",
    "apache-2": "Apache-2.0",
    "apache2": "Apache-2.0",
    "asl-2.0": "Apache-2.0",
    "boost software license 1.0": "BSL-1.0",
    "boost": "BSL-1.0",
    "boost-1.0": "BSL-1.0",
    "bsd 2-clause": "BSD-2-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd-2": "BSD-2-Clause",
    "bsd-2-clause-freebsd": "BSD-2-Clause",
    "bsd-3": "BSD-3-Clause",
    "2-clause bsd": "BSD-2-Clause",
    "3-clause bsd": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "modified bsd license": "BSD-3-Clause",
    "expat": "MIT",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "isc license (isc)": "ISC",
    "mit license": "MIT",
    "mit-license": "MIT",
    "mit/expat": "MIT",
    "the mit license": "MIT",
    "psf": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
    "zlib/libpng": "Zlib",
    "zlib/libpng license": "Zlib",
}
_BY_NAME = {name.lower(): name for name in PERMITTED} | _OTHER_NAMES
_UNSPECIFIC_BSD = frozenset({"bsd", "bsd license", "bsd licence", "the bsd license"})

_NO_NAMES = frozenset({")", "AND", "OR", "WITH"})
_EXPRESSION_WORD = re.compile(r"\(|\)|[^\s()]+")
_CLASSIFIER = re.compile(r"^Classifier:\s*License :: (?:OSI Approved :: )?(.+?)\s*$", re.MULTILINE)
_FIELD = r"^{}:[ \t]*(\S.*?)[ \t]*$"
_TEXTS = (
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "neither the name")),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "may not be used to")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
    ("MIT", ("permission is hereby granted, free of charge", "the software is provided")),
    ("ISC", ("permission to use, copy, modify, and",)),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
)


def permitted(wording: str) -> str | None:
    """Return the permitted part of an SPDX expression or a common licence name, None for none.

    Of alternatives (OR) the permitted ones remain; of licences joined by AND all must be permitted.
    """
    known = _BY_NAME.get(wording.strip().lower())
    if known is not None:
        return known
    tokens = _EXPRESSION_WORD.findall(re.sub(r"\s*/\s*", " OR ", wording))
    licence, rest = _parse_or(tokens)
    return licence if not rest else None


def licence_of_python(metadata: str, licence_text: str = "") -> tuple[str | None, str]:
    """Return the permitted licence in METADATA or PKG-INFO, and its original wording."""
    header = metadata.partition("\n\n")[0]
    for name in ("License-Expression", "License"):
        field = re.search(_FIELD.format(name), header, re.MULTILINE)
        if field and (licence := permitted(field[1])):
            return licence, field[1]
        if field and name == "License-Expression":
            return None, field[1]
    classifiers = _CLASSIFIER.findall(header)
    return _of_classifiers(classifiers, licence_text)


def licence_of_npm(package: object) -> tuple[str | None, str]:
    """Return the permitted licence in a decoded package.json, and its original wording."""
    if not isinstance(package, dict):
        return None, "nothing"
    value = package.get("license", package.get("licenses"))
    if isinstance(value, list):  # the old format: a choice of licences
        value = " OR ".join(_npm_name(choice) for choice in value)
    wording = _npm_name(value)
    return permitted(wording), wording or "nothing"


def licence_of_text(text: str) -> str | None:
    """Return the name of the permitted licence with this text, None if it is another."""
    plain = " ".join(text.lower().split())
    if "gnu general public license" in plain or "gnu lesser general" in plain:
        return None
    return next((name for name, parts in _TEXTS if all(part in plain for part in parts)), None)


def _of_classifiers(classifiers: list[str], licence_text: str) -> tuple[str | None, str]:
    """Require all classifiers to be permitted: they need not be alternatives."""
    names = [classifier for classifier in classifiers if classifier != "OSI Approved"]
    if not names:
        return licence_of_text(licence_text), "its licence's text" if licence_text else "nothing"
    wording = ", ".join(names)
    known = [
        licence for name in names if (licence := _of_classifier(name, licence_text)) is not None
    ]
    return (_joined(known, "AND") if len(known) == len(names) else None), wording


def _of_classifier(name: str, licence_text: str) -> str | None:
    if name.lower() in _UNSPECIFIC_BSD:
        text = licence_of_text(licence_text)
        return text if text in ("BSD-2-Clause", "BSD-3-Clause") else None
    return _BY_NAME.get(name.lower())


def _npm_name(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("type")
    return value if isinstance(value, str) else ""


def _parse_or(tokens: list[str]) -> tuple[str | None, list[str]]:
    """Return what is permitted of the expression at the start of the tokens, and the rest."""
    licence, rest = _parse_and(tokens)
    licences = [licence]
    while rest and rest[0].upper() == "OR":
        licence, rest = _parse_and(rest[1:])
        licences.append(licence)
    return _joined((each for each in licences if each is not None), "OR"), rest


def _parse_and(tokens: list[str]) -> tuple[str | None, list[str]]:
    licence, rest = _parse_one(tokens)
    licences = [licence]
    while rest and rest[0].upper() == "AND":
        licence, rest = _parse_one(rest[1:])
        licences.append(licence)
    known = [each for each in licences if each is not None]
    return (_joined(known, "AND") if len(known) == len(licences) else None), rest


def _parse_one(tokens: list[str]) -> tuple[str | None, list[str]]:
    if not tokens or tokens[0].upper() in _NO_NAMES:
        return None, ["?"]  # a rest that is left over makes the whole expression invalid
    if tokens[0] == "(":
        licence, rest = _parse_or(tokens[1:])
        return licence, rest[1:] if rest[:1] == [")"] else ["?"]
    licence = _BY_NAME.get(tokens[0].lower())
    if tokens[1:2] and tokens[1].upper() == "WITH":
        return licence, tokens[3:]  # an exception only permits more
    return licence, tokens[1:]


def _joined(licences: Iterable[str], operator: str) -> str | None:
    names = sorted(set(licences))
    if operator == "AND" and any(" OR " in name for name in names) and len(names) > 1:
        names = [f"({name})" if " OR " in name else name for name in names]
    return f" {operator} ".join(names) or None
