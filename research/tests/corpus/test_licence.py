"""What a package says of its licence, in the words of each ecosystem."""

import pytest

from intarsia_research.corpus.debian_copyright import licence_of_path, read_copyright
from intarsia_research.corpus.licence import (
    PERMITTED,
    licence_of_npm,
    licence_of_python,
    licence_of_text,
    permitted,
)


@pytest.mark.parametrize("name", PERMITTED)
def test_every_permitted_licence_is_known_by_its_own_name(name: str):
    assert permitted(name) == name
    assert permitted(name.lower()) == name


@pytest.mark.parametrize(
    ("words", "licence"),
    [
        ("MIT OR Apache-2.0", "Apache-2.0 OR MIT"),
        ("MIT/Apache-2.0", "Apache-2.0 OR MIT"),
        ("(MIT AND BSD-3-Clause)", "BSD-3-Clause AND MIT"),
        ("MIT OR GPL-3.0-only", "MIT"),
        ("GPL-2.0-or-later OR (MIT AND ISC)", "ISC AND MIT"),
        ("Apache-2.0 WITH LLVM-exception", "Apache-2.0"),
        ("MIT AND (ISC OR Zlib)", "(ISC OR Zlib) AND MIT"),
        ("Expat", "MIT"),
        ("Apache License 2.0", "Apache-2.0"),
    ],
)
def test_the_permissive_part_of_an_expression_is_taken(words: str, licence: str):
    assert permitted(words) == licence


@pytest.mark.parametrize(
    "words",
    [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-2.0-only",
        "MPL-2.0",
        "LGPL-2.1 OR MPL-1.1",
        "Proprietary",
        "MIT OR",
        "(MIT",
        "MIT Apache-2.0",
        "UNLICENSED",
        "SEE LICENSE IN LICENSE.md",
        "CC-BY-4.0",
    ],
)
def test_what_is_not_known_or_not_permitted_is_refused(words: str):
    assert permitted(words) is None


def test_python_metadata_tells_by_its_expression_first():
    metadata = (
        "Name: x\nLicense-Expression: GPL-3.0-only\n"
        "Classifier: License :: OSI Approved :: MIT License\n\nText"
    )
    assert licence_of_python(metadata) == (None, "GPL-3.0-only")


def test_python_classifiers_must_all_be_permitted():
    both = (
        "Name: x\nClassifier: License :: OSI Approved :: MIT License\n"
        "Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)\n"
    )
    assert licence_of_python(both)[0] is None
    fine = "Name: x\nClassifier: License :: OSI Approved :: Apache Software License\n"
    assert licence_of_python(fine)[0] == "Apache-2.0"


def test_words_in_the_description_are_no_metadata():
    assert licence_of_python("Name: x\n\nLicense-Expression: MIT\n")[0] is None


def test_bsd_alone_is_told_by_the_licence_s_text():
    metadata = "Name: x\nClassifier: License :: OSI Approved :: BSD License\n"
    text = "Redistribution and use in source and binary forms ... Neither the name of ..."
    assert licence_of_python(metadata, text)[0] == "BSD-3-Clause"
    assert licence_of_python(metadata, text.partition("Neither")[0])[0] == "BSD-2-Clause"
    assert licence_of_python(metadata)[0] is None


def test_a_gpl_text_is_no_permitted_licence():
    text = "GNU GENERAL PUBLIC LICENSE ... permission is hereby granted, free of charge"
    assert licence_of_text(f"{text} ... the software is provided") is None


@pytest.mark.parametrize(
    ("package", "licence"),
    [
        ({"license": "MIT"}, "MIT"),
        ({"license": {"type": "ISC", "url": "x"}}, "ISC"),
        ({"licenses": [{"type": "MIT"}, {"type": "GPL-2.0"}]}, "MIT"),
        ({"license": "UNLICENSED"}, None),
        ({}, None),
        ([], None),
        (None, None),
    ],
)
def test_package_json_tells_in_three_ways(package: object, licence: str | None):
    assert licence_of_npm(package)[0] == licence


COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: thing

Files: *
Copyright: 2020 Somebody
License: Expat

Files: src/gnu/* src/x?.c
Copyright: 2020 Somebody Else
License: GPL-2+
 The text of it.

Files: src/gnu/free.c
Copyright: 2021 Third
License: BSD-3-clause and Expat

Files: debian/*
Copyright: 2022 Packager
License: GPL-3+, or Expat

License: Expat
 Permission is hereby granted ...
"""


@pytest.mark.parametrize(
    ("path", "licence"),
    [
        ("main.c", "MIT"),
        ("src/deep/er.c", "MIT"),
        ("src/gnu/a.c", None),
        ("src/gnu/deep/a.c", None),
        ("src/x1.c", None),
        ("src/x12.c", "MIT"),
        ("src/gnu/free.c", "BSD-3-Clause AND MIT"),
        ("debian/rules.sh", "MIT"),
    ],
)
def test_debian_tells_every_path_s_licence_by_the_last_pattern(path: str, licence: str | None):
    assert licence_of_path(read_copyright(COPYRIGHT), path)[0] == licence


def test_a_copyright_file_in_free_words_tells_nothing():
    paragraphs = read_copyright(
        "This package is under the MIT licence.\n\nFiles: *\nLicense: MIT\n"
    )
    assert paragraphs == []
    assert licence_of_path(paragraphs, "main.c")[0] is None
