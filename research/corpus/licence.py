"""What a package says of its licence → an SPDX expression of permissive licences, or none.

Knows words, no archives. What it does not know is refused: nobody's code is taken on a guess.
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


def permitted(words: str) -> str | None:
    """Return the permissive part of an SPDX expression (or of a usual name), if it has one.

    Of alternatives the permitted ones are taken; of licences that all hold, all must be permitted.
    """
    known = _BY_NAME.get(words.strip().lower())
    if known is not None:
        return known
    tokens = _EXPRESSION_WORD.findall(re.sub(r"\s*/\s*", " OR ", words))
    licence, rest = _alternatives(tokens)
    return licence if not rest else None


def licence_of_python(metadata: str, licence_text: str = "") -> tuple[str | None, str]:
    """Return what METADATA or PKG-INFO permits, and in what words it says so."""
    header = metadata.partition("\n\n")[0]
    for name in ("License-Expression", "License"):
        found = re.search(_FIELD.format(name), header, re.MULTILINE)
        if found and (licence := permitted(found[1])):
            return licence, found[1]
        if found and name == "License-Expression":
            return None, found[1]
    classifiers = _CLASSIFIER.findall(header)
    return _of_classifiers(classifiers, licence_text)


def licence_of_npm(package: object) -> tuple[str | None, str]:
    """Return what a decoded package.json permits, and in what words it says so."""
    if not isinstance(package, dict):
        return None, "nothing"
    said = package.get("license", package.get("licenses"))
    if isinstance(said, list):  # as it was written long ago: a choice
        said = " OR ".join(_npm_name(it) for it in said)
    words = _npm_name(said)
    return permitted(words), words or "nothing"


def licence_of_text(text: str) -> str | None:
    """Return which permitted licence a licence's text is."""
    plain = " ".join(text.lower().split())
    if "gnu general public license" in plain or "gnu lesser general" in plain:
        return None
    return next((name for name, parts in _TEXTS if all(part in plain for part in parts)), None)


def _of_classifiers(classifiers: list[str], licence_text: str) -> tuple[str | None, str]:
    """All classifiers must be permitted: that they are alternatives is nowhere said."""
    names = [it for it in classifiers if it != "OSI Approved"]
    if not names:
        return licence_of_text(licence_text), "its licence's text" if licence_text else "nothing"
    words = ", ".join(names)
    found = [_of_classifier(name, licence_text) for name in names]
    known = [licence for licence in found if licence is not None]
    return (_joined(known, "AND") if len(known) == len(found) else None), words


def _of_classifier(name: str, licence_text: str) -> str | None:
    if name.lower() in _UNSPECIFIC_BSD:
        text = licence_of_text(licence_text)
        return text if text in ("BSD-2-Clause", "BSD-3-Clause") else None
    return _BY_NAME.get(name.lower())


def _npm_name(said: object) -> str:
    if isinstance(said, dict):
        said = said.get("type")
    return said if isinstance(said, str) else ""


def _alternatives(tokens: list[str]) -> tuple[str | None, list[str]]:
    found, rest = _together(tokens)
    licences = [found]
    while rest and rest[0].upper() == "OR":
        found, rest = _together(rest[1:])
        licences.append(found)
    return _joined((it for it in licences if it is not None), "OR"), rest


def _together(tokens: list[str]) -> tuple[str | None, list[str]]:
    found, rest = _one(tokens)
    licences = [found]
    while rest and rest[0].upper() == "AND":
        found, rest = _one(rest[1:])
        licences.append(found)
    known = [it for it in licences if it is not None]
    return (_joined(known, "AND") if len(known) == len(licences) else None), rest


def _one(tokens: list[str]) -> tuple[str | None, list[str]]:
    if not tokens or tokens[0].upper() in _NO_NAMES:
        return None, ["?"]  # what is left over spoils the whole expression
    if tokens[0] == "(":
        licence, rest = _alternatives(tokens[1:])
        return licence, rest[1:] if rest[:1] == [")"] else ["?"]
    licence = _BY_NAME.get(tokens[0].lower())
    if tokens[1:2] and tokens[1].upper() == "WITH":
        return licence, tokens[3:]  # an exception only permits more
    return licence, tokens[1:]


def _joined(licences: Iterable[str], word: str) -> str | None:
    names = sorted(set(licences))
    if word == "AND" and any(" OR " in name for name in names) and len(names) > 1:
        names = [f"({name})" if " OR " in name else name for name in names]
    return f" {word} ".join(names) or None
