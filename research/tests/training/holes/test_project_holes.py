"""Training holes are drawn from a corpus, and read other files as a fill does."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from corpus_files import corpus_file, functions
from toy_causal import toy_text

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.read_request import RequestReader
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill
from intarsia.infill.filling.plan import FillOptions, plan_fill, to_project_context
from intarsia.infill.holes.hole import given_start, hole_for_range
from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import ChunkOptions, Place
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.indexer import open_index
from intarsia_research.corpus.corpus_file import CorpusFile, write_files
from intarsia_research.training.draw_holes import TrainingHole, draw_holes
from intarsia_research.training.encode_holes import encode_holes
from intarsia_research.training.holes.draw import HoleDraw, draw_from_corpus
from intarsia_research.training.holes.project_holes import BUDGET_TOKENS, draw_holes_in_projects
from intarsia_research.training.packed_holes import HoleIds, lay_out, pack, read_packed

PRICES = '''"""Prices."""


class PriceList:
    """What each thing costs."""

    def price_of(self, name, amount):
        return self.prices[name] * amount

    def cheapest_name(self):
        return min(self.prices, key=self.prices.get)


def rounded_price(price, digits):
    """Return the price with this number of digits."""
    return round(price, digits)
'''
CART = '''"""A cart."""

from shop.prices import PriceList, rounded_price


class Cart:
    def __init__(self, prices: PriceList):
        self.things = []
        self.prices = prices

    def add(self, thing, amount):
        self.things.append((thing, amount))

    def total(self):
        total = 0
        for thing, amount in self.things:
            total += self.prices.price_of(thing, amount)
        return rounded_price(total, digits=2)

    def cheapest(self):
        found = self.prices.cheapest_name()
        return found.upper()
'''


@pytest.fixture(scope="module")
def text(toy: Path) -> FimTokenizer:
    return toy_text(toy)


def shop(*, package: str = "shop") -> list[CorpusFile]:
    files = {"shop/__init__.py": "", "shop/prices.py": PRICES, "shop/cart.py": CART}
    return [corpus_file(files[path], path=path, package=package) for path in sorted(files)]


def drawn(files: Iterable[CorpusFile], *, seed: int = 1, share: float = 1.0) -> list[TrainingHole]:
    return list(draw_holes_in_projects(files, seed=seed, per_file=12, share=share))


@pytest.fixture(scope="module")
def holes() -> list[TrainingHole]:
    return [hole for seed in range(4) for hole in drawn(shop(), seed=seed)]


def test_the_chunks_are_those_that_a_fill_of_the_same_file_gets(holes, tmp_path):
    """Checked with an index of a folder that never had the hole's text."""
    compared = [hole for hole in holes if hole.chunks and hole.path == "shop/cart.py"][:4]
    assert compared
    for number, hole in enumerate(compared):
        root = tmp_path / str(number) / "shop-1.0"
        for file in shop():
            (root / file.path).parent.mkdir(parents=True, exist_ok=True)
            (root / file.path).write_text(file.text)
        file_text = hole.prefix + hole.suffix
        (root / hole.path).write_text(file_text)
        language = language_for_id(hole.language)
        span = hole_for_range(file_text, len(hole.prefix), len(hole.prefix), language)
        plan = plan_fill(span, FillOptions())
        place = Place(
            path=(root / hole.path).as_posix(),
            text=file_text,
            language=language,
            offset=plan.hole.start,
            window_start=plan.window[0],
            window_end=plan.window[1],
        )
        settings = RootSettings(path=root.as_posix(), exclude_secrets=False)
        with open_index(root, settings=settings, folder=tmp_path / f"index-{number}") as own:
            own.update()
            possible = {
                tuple(
                    (chunk.path, chunk.text)
                    for chunk in choose_chunks(own.index, place, ChunkOptions(budget_tokens=budget))
                )
                for budget in range(BUDGET_TOKENS[0], BUDGET_TOKENS[1] + 1)
            }
        assert hole.chunks in possible


def test_the_ids_are_those_that_a_fill_with_the_same_context_sends_to_the_model(text, holes):
    num_compared = 0
    fim = text.mark_ids()
    for hole in holes:
        encoded = list(encode_holes([hole], text))
        if not encoded or not hole.chunks:
            continue
        start = given_start(hole.prefix, len(hole.prefix))
        reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=8_192)
        request = Fill(
            id=1,
            prefix=hole.prefix[:start],
            given=hole.prefix[start:],
            suffix=hole.suffix[:700] or "\n",
            project=to_project_context(hole.chunks, "shop", hole.path),
        )
        read = reader.read(request, FillControl())
        laid_out = lay_out(encoded[0], fim, 9_999, 9_999, 9_999)
        if laid_out.ids[: laid_out.context_end] != read.context[: laid_out.context_end]:
            # the hole drew another boundary than that of a first fill: nothing else differs
            shared = read.num_project + 1
            assert laid_out.ids[:shared] == read.context[:shared]
            continue
        num_compared += 1
        assert laid_out.ids[: laid_out.given_end] == read.context[: laid_out.given_end]
        assert read.num_project == len(encoded[0].project) > 0
        rest = b"".join(map(text.bytes_of, read.context[laid_out.given_end :])) + read.healed
        assert b"".join(map(text.bytes_of, encoded[0].middle)).startswith(rest)
        assert laid_out.ids[-1] == fim.end
    assert num_compared > 8


def test_no_chunk_is_of_the_file_with_the_hole(holes: list[TrainingHole]) -> None:
    read = [hole for hole in holes if hole.chunks]
    assert len(read) > len(holes) // 3
    for hole in read:
        assert hole.path not in [path for path, _ in hole.chunks]


def test_many_holes_begin_with_a_name_of_another_file(holes: list[TrainingHole]):
    names = ("PriceList", "rounded_price", "price_of", "cheapest_name")
    read = [hole for hole in holes if hole.chunks and hole.path == "shop/cart.py"]
    named = [hole for hole in read if hole.hole.startswith(names)]
    assert len(named) >= len(read) // 4  # the file has few such places, and each is taken once
    assert {hole.hole.split("(")[0] for hole in named} >= {"price_of", "rounded_price"}
    assert any(hole.prefix.endswith(".") for hole in named)


def test_the_same_files_and_seed_give_the_same_holes(holes: list[TrainingHole]) -> None:
    assert drawn(shop(), seed=0) == holes[: len(drawn(shop(), seed=0))]
    assert drawn(shop(), seed=0) != drawn(shop(), seed=1)


def test_a_share_of_none_gives_the_holes_of_the_corpus() -> None:
    assert drawn(shop(), share=0) == list(draw_holes(shop(), seed=1, per_file=12))


def test_a_file_of_its_own_has_holes_without_chunks() -> None:
    alone = [corpus_file(functions("alpha", "beta"), path="alone.py", package="alone")]
    assert drawn(alone) == list(draw_holes(alone, seed=1, per_file=12))


def test_a_package_never_reads_another_one() -> None:
    cart = [file for file in shop(package="other") if file.path == "shop/cart.py"]
    others = [hole for hole in drawn([*shop(), *cart]) if hole.package == "pypi:other"]
    assert others
    assert not [hole for hole in others if hole.chunks]


@pytest.mark.parametrize(
    "path", ["../outside.py", "/tmp/outside.py", "a/../../outside.py", "a\0b.py", "x" * 300 + ".py"]
)
def test_a_path_of_an_archive_never_leaves_the_folder(path: str, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    costs = corpus_file(PRICES.replace("price", "cost"), path=path, package="shop")
    for hole in draw_holes_in_projects([*shop(), costs], seed=1, per_file=2, share=1.0):
        assert not [*tmp_path.glob("*/outside.py"), *tmp_path.glob("outside.py")]
        assert "outside.py" not in [name for name, _ in hole.chunks]
    assert list(tmp_path.iterdir()) == []


def parts(hole: HoleIds) -> list[list[int]]:
    project = (hole.project.before_mark, hole.project.in_prefix)
    return [[*part] for part in (*project, hole.prefix, hole.given, hole.middle, hole.suffix)]


def test_packed_holes_keep_the_code_of_other_files(text, holes, tmp_path):
    encoded = list(encode_holes(holes, text))
    pack(encoded, tmp_path / "holes.safetensors", metadata={})
    packed = read_packed(tmp_path / "holes.safetensors")
    assert [parts(packed[i]) for i in range(len(packed))] == [parts(one) for one in encoded]
    assert (
        sum(bool(packed[at].project) for at in range(len(packed)))
        == sum(bool(one.project) for one in encoded)
        > 0
    )


NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    files = [
        corpus_file(functions(name, *NAMES[:2]), path=f"{name}.py", package=name[0])
        for name in sorted(NAMES)
    ]
    write_files(tmp_path, sorted(files, key=lambda file: file.package_name))
    return tmp_path


def paths(corpus: Path, draw: HoleDraw) -> list[str]:
    return [hole.path for hole in draw_from_corpus(corpus, draw, lambda text, share: None)]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_holes_are_drawn_in_every_file_or_in_some(corpus: Path, share: float) -> None:
    every = HoleDraw(seed=1, per_file=2, project_share=share)
    some = HoleDraw(seed=1, per_file=2, project_share=share, max_holes=6)
    assert {path.removesuffix(".py") for path in paths(corpus, every)} == set(NAMES)
    assert len(paths(corpus, every)) == 2 * len(NAMES)
    assert len(paths(corpus, some)) == 6
    assert len(set(paths(corpus, some))) == 3
    assert paths(corpus, some) == paths(corpus, some)


def test_a_seed_draws_its_own_files(corpus: Path) -> None:
    drawn = {
        tuple(paths(corpus, HoleDraw(seed=seed, per_file=1, max_holes=3))) for seed in range(5)
    }
    assert len(drawn) > 1
