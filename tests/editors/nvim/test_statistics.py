"""Statistics: what is accepted by a key, by the word or by typing is counted, once each."""

from collections.abc import Callable

from headless_nvim import Neovim

from intarsia.lsp.statistics.counts import LanguageCounts
from intarsia.lsp.statistics.file import read_counts, statistics_file

RULES = {"rules": [("one =", "first + second")], "text": "1"}
Edit = Callable[..., Neovim]


def counted() -> LanguageCounts:
    return read_counts(statistics_file()).counts.total


def test_each_way_to_accept_is_counted_once(edit: Edit) -> None:
    before = counted()
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + second")
    nvim.keys("<M-l>")
    nvim.holds("one = first + second")
    nvim = edit("one =\n", "b.py")
    nvim.keys("A<Space>")
    nvim.shows("first + second")
    nvim.keys("<M-w>")
    nvim.shows(" + second")
    nvim.keys("<M-w>")
    nvim.shows(" second")
    nvim = edit("one =\n", "c.py")
    nvim.keys("A<Space>")
    nvim.shows("first + second")
    nvim.keys("fir")
    nvim.shows("st + second")
    nvim.keys("<M-e>x")
    nvim.holds("one = firx")
    nvim.keys("<Esc>")
    nvim.restart_server()
    after = counted()
    assert after.accepted - before.accepted == 2
    assert after.ended - before.ended == after.kept - before.kept == 2
    assert after.shown - before.shown >= 3
