"""A corpus folder is built from packages of a small network, with the real code."""

import gzip
from pathlib import Path

import pytest
from corpus_files import functions
from small_packages import DEBIAN, SmallNet

from intarsia_research.corpus import candidates
from intarsia_research.corpus.build import PINNED_NAME, BuildOptions, build_corpus
from intarsia_research.corpus.contamination import MeasuredTexts
from intarsia_research.corpus.corpus_file import FILES_NAME, read_corpus
from intarsia_research.corpus.manifest import MANIFEST_NAME, Manifest, read_manifest
from intarsia_research.corpus.package_list import PackageRow, read_packages
from intarsia_research.errors import CorpusFault

GO = "package shapes\n\n" + "\n".join(
    f"// Area{n} is what {n} covers.\nfunc Area{n}(w, h int) int {{\n\treturn w * h * {n}\n}}\n"
    for n in range(40)
)
RUBY = "\n".join(
    f"def volume_{n}(a, b)\n  height_{n} = a + b\n  height_{n} * {n}\nend" for n in range(8)
)
TYPESCRIPT = "\n".join(
    f"export function pick{n}(from: string[], at{n}: number): string {{\n  return from[at{n}];\n}}"
    for n in range(6)
)
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: Somebody
License: BSD-3-clause

Files: gpl/*
Copyright: Somebody
License: GPL-2+
"""
SECRET_STRETCH = "alpha beta gamma delta epsilon zeta eta theta iota kappa"


@pytest.fixture
def net() -> SmallNet:
    net = SmallNet()
    net.add_wheel(
        "first",
        {
            "first/one.py": functions("one", "two"),
            "first/copy.py": functions("one", "two") + "\n# the same\n",
            "first/measured.py": functions("four") + f"# {SECRET_STRETCH}\n",
            "first/generated_pb2.py": functions("five"),
            "first/latin.py": functions("six"),
            "first/README.md": "no code\n" * 40,
        },
    )
    net.add_sdist("second", {"src/three.py": functions("seven", "eight"), "small.py": "x = 1\n"})
    net.add_npm("third", {"src/pick.ts": TYPESCRIPT})
    net.add_debian(
        "fourth",
        {
            "area.go": GO,
            "gpl/area.go": GO.replace("Area", "Gpl"),
            "bin/volume": f"#!/usr/bin/ruby\n{RUBY}\n",
        },
        copyright_text=COPYRIGHT,
    )
    return net


ROWS = (
    PackageRow(source="wheel", name="first"),
    PackageRow(source="sdist", name="second"),
    PackageRow(source="npm", name="third"),
    PackageRow(source="debian", name="fourth"),
)


def build(net, out, rows=ROWS, *, languages=(), max_mb=1.0, held_out=frozenset()) -> Manifest:
    options = BuildOptions(
        seed=1,
        max_mb=max_mb,
        languages=languages,
        held_out=held_out,
        measured=MeasuredTexts([SECRET_STRETCH]),
        measured_sets=("secret",),
    )
    return build_corpus(
        rows,
        out=out,
        cache=out.parent / "archives",
        options=options,
        read=net.read,
        on_progress=lambda _stage, _fraction: None,
    )


def test_every_ecosystem_s_files_come_with_their_licence_and_language(net: SmallNet, tmp_path):
    build(net, tmp_path / "out")
    found = {
        file.name: (file.language, file.licence, file.version)
        for file in read_corpus(tmp_path / "out")
    }
    assert found == {
        "debian:fourth/area.go": ("go", "BSD-3-Clause", "3-1"),
        "debian:fourth/bin/volume": ("ruby", "BSD-3-Clause", "3-1"),
        "npm:third/src/pick.ts": ("typescript", "MIT", "2.0.0"),
        "pypi:first/first/copy.py": ("python", "MIT", "1.0"),
        "pypi:first/first/latin.py": ("python", "MIT", "1.0"),
        "pypi:second/src/three.py": ("python", "MIT", "1.0"),
    }


def test_the_manifest_counts_what_was_left_out_and_why(net: SmallNet, tmp_path: Path):
    build(net, tmp_path / "out")
    manifest = read_manifest(tmp_path / "out")
    dropped = {
        package.name: {reason: tally.num_files for reason, tally in package.dropped.items()}
        for package in manifest.packages
    }
    assert dropped == {
        "first": {"duplicate": 1, "measured": 1, "generated": 1},
        "second": {"too small": 1},
        "third": {},
        "fourth": {"other licence": 1},
    }
    assert manifest.kept.num_files == 6
    assert sum(it.kept.num_files for it in manifest.packages) == 6
    assert sum(it.num_bytes for it in manifest.by_language.values()) == manifest.kept.num_bytes
    assert manifest.by_licence["BSD-3-Clause"].num_files == 2
    assert manifest.measured.num_ngrams == 1


def test_the_same_list_gives_the_same_bytes_in_any_order(net: SmallNet, tmp_path: Path):
    build(net, tmp_path / "once")
    build(net, tmp_path / "again", tuple(reversed(ROWS)))
    once, again = ((tmp_path / it / FILES_NAME).read_bytes() for it in ("once", "again"))
    assert once == again
    assert read_manifest(tmp_path / "once").sha256 == read_manifest(tmp_path / "again").sha256


def test_a_pinned_list_builds_the_same_corpus_without_fetching_again(net: SmallNet, tmp_path: Path):
    first = build(net, tmp_path / "once")
    rows = read_packages(tmp_path / "once" / PINNED_NAME)
    assert all(row.version and row.sha256 for row in rows)
    net.asked.clear()
    assert build(net, tmp_path / "again", rows).sha256 == first.sha256
    assert not [url for url in net.asked if url.endswith((".whl", ".tgz", ".tar.gz"))]


def test_another_archive_than_the_pinned_one_is_refused(net: SmallNet, tmp_path: Path):
    rows = (PackageRow(source="wheel", name="first", version="1.0", sha256="0" * 64), *ROWS[1:])
    manifest = build(net, tmp_path / "out", rows)
    assert [(it.name, it.reason) for it in manifest.refused] == [
        ("first", "its archive is not the one in the list: the digest differs")
    ]


def test_an_archive_that_is_not_what_the_index_says_stops_the_build(net: SmallNet, tmp_path: Path):
    net.pages["https://files.pythonhosted.org/packages/first-1.0-py3-none-any.whl"] += b"more"
    with pytest.raises(CorpusFault, match="is not the archive of the index"):
        build(net, tmp_path / "out")


def test_a_cached_archive_that_was_changed_is_fetched_again(net: SmallNet, tmp_path: Path):
    first = build(net, tmp_path / "once")
    for archive in (tmp_path / "archives").iterdir():
        archive.write_bytes(b"changed")
    assert build(net, tmp_path / "again").sha256 == first.sha256


def test_held_out_packages_are_never_asked_for(net: SmallNet, tmp_path: Path):
    manifest = build(net, tmp_path / "out", held_out=frozenset({("npm", "third")}))
    assert not [url for url in net.asked if "third" in url]
    assert manifest.refused[0].reason.startswith("held out")
    assert not [file for file in read_corpus(tmp_path / "out") if "third" in file.name]


def test_a_package_of_another_licence_is_refused_with_its_words(net: SmallNet, tmp_path: Path):
    net.add_npm("fifth", {"src/a.ts": TYPESCRIPT}, licence="GPL-3.0")
    net.add_debian("sixth", {"a.go": GO}, copyright_text="All rights are mine.\n")
    rows = (
        *ROWS,
        PackageRow(source="npm", name="fifth"),
        PackageRow(source="debian", name="sixth"),
        PackageRow(source="npm", name="nowhere"),
    )
    reasons = {it.name: it.reason for it in build(net, tmp_path / "out", rows).refused}
    assert reasons["fifth"] == "its licence is not permitted (GPL-3.0)"
    assert "not in the machine-readable format" in reasons["sixth"]
    assert "404" in reasons["nowhere"]


def test_a_package_that_a_mirror_has_lost_comes_from_the_next_suite(net: SmallNet, tmp_path: Path):
    net.add_debian(
        "fourth", {"area.go": GO}, copyright_text=COPYRIGHT, version="2", suite="bookworm"
    )
    assert build(net, tmp_path / "new").packages[3].version == "3-1"
    (tmp_path / "archives").rename(tmp_path / "away")
    del net.pages[f"{DEBIAN}/pool/main/fourth/fourth_3.orig.tar.gz"]
    assert build(net, tmp_path / "old").packages[3].version == "2-1"
    del net.pages[f"{DEBIAN}/pool/main/fourth/fourth_2.orig.tar.gz"]
    (tmp_path / "archives").rename(tmp_path / "away again")
    (refused,) = build(net, tmp_path / "none").refused
    assert (refused.name, "404" in refused.reason) == ("fourth", True)


def test_one_package_gives_no_more_than_its_share(net: SmallNet, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(candidates, "MAX_PACKAGE_BYTES", 600)
    names = [f"name{n}" for n in range(9)]
    net.add_wheel("first", {f"{name}.py": functions(name) for name in names})
    manifest = build(net, tmp_path / "out", ROWS[:1])
    assert 600 <= manifest.kept.num_bytes < 1_000
    assert set(manifest.dropped) == {"beyond the package's share"}


def test_nothing_left_is_a_fault(net: SmallNet, tmp_path: Path):
    with pytest.raises(CorpusFault, match="no file is left"):
        build(net, tmp_path / "out", ROWS[:1], languages=("rust",))
    assert not (tmp_path / "out").exists()


def test_newlines_are_plain_and_the_digest_is_the_text_s(net: SmallNet, tmp_path: Path):
    net.add_wheel(
        "first", {"first/dos.py": "\ufeff" + functions("one", "two").replace("\n", "\r\n")}
    )
    build(net, tmp_path / "out", ROWS[:1])
    (file,) = read_corpus(tmp_path / "out")
    assert file.text == functions("one", "two")
    assert file.num_bytes == len(file.text)


def test_a_folder_that_is_no_corpus_is_a_fault(tmp_path: Path):
    for read in (read_manifest, lambda folder: list(read_corpus(folder))):
        with pytest.raises(CorpusFault, match="corpus build"):
            read(tmp_path)
    (tmp_path / FILES_NAME).write_bytes(gzip.compress(b"{}\n"))
    (tmp_path / MANIFEST_NAME).write_text("{}", encoding="utf-8")
    for read in (read_manifest, lambda folder: list(read_corpus(folder))):
        with pytest.raises(CorpusFault, match="is not a corpus"):
            read(tmp_path)
