"""Each kind of chunk on small workspaces: what is chosen, how it is written, what is left out."""

from dataclasses import replace

import pytest
from context_places import HOLE, ROOT, chosen, place_in
from memory_index import memory_index

from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import ChunkOptions, RecentEdit, context_budget

SESSION = '''\
import time


class Base:
    """Anything that can be closed."""

    is_open: bool = True

    def close(self) -> None:
        self.is_open = False


class Session(Base):
    """A login of one user."""

    timeout_s: float = 30.0

    def __init__(self, user: "User", *, now: float | None = None) -> None:
        self.user = user
        self.started = now or time.time()

    def renew(self, by_s: float) -> float:
        self.timeout_s += by_s
        return self.timeout_s

    def _forget(self) -> None:
        del self.user


class User:
    name: str
    mail: str

    @property
    def is_admin(self) -> bool:
        return self.name == "root"


def open_session(user: User, settings: dict[str, str]) -> Session:
    return Session(user)


def unrelated_thing(colour: int) -> int:
    return colour
'''


def test_the_signature_of_an_imported_name_is_shown_without_its_body():
    main = f"from app.session import open_session\n\n\ndef start(user):\n    return open_{HOLE}\n"
    (chunk,) = chosen({"app/session.py": SESSION, "main.py": main}, "main.py", "signatures")
    assert chunk.path == "app/session.py"
    assert chunk.kind == "signatures"
    assert chunk.reason == "imported: open_session"
    written = "def open_session(user: User, settings: dict[str, str]) -> Session: ..."
    assert written in chunk.text.split("\n")
    assert "return Session(user)" not in chunk.text


def test_a_name_is_followed_through_the_files_that_pass_it_on():
    files = {
        "app/__init__.py": "from .api import open_session as start_session\n",
        "app/api/__init__.py": "from ..session import *\n",
        "app/session.py": SESSION,
        "main.py": f"from app import start_session\n\nsession = {HOLE}\n",
    }
    (chunk,) = chosen(files, "main.py", "signatures")
    assert chunk.path == "app/session.py"
    assert chunk.reason == "imported: start_session"
    assert "def start_session(user: User, settings: dict[str, str])" in chunk.text


def test_several_signatures_of_a_file_are_one_stub_under_their_class():
    main = f"from app.session import Session, User\n\nSession.renew\nUser.mail\nUser({HOLE})\n"
    files = {"app/session.py": SESSION, "main.py": main}
    (chunk,) = chosen(files, "main.py", "signatures")
    lines = chunk.text.split("\n")
    assert "class Session(Base):" in lines
    assert '    def __init__(self, user: "User", *, now: float | None = None) -> None: ...' in lines
    assert "    def renew(self, by_s: float) -> float: ..." in lines
    assert lines.index("class Session(Base):") < lines.index("class User:")
    assert "    name: str" in lines
    before = lines.index("    @property")
    assert lines[before + 1] == "    def is_admin(self) -> bool: ..."
    assert not any("_forget" in line for line in lines[:3])


def test_what_is_mentioned_near_the_hole_goes_first_into_a_small_budget():
    names = [f"name_{letter}" for letter in "abcdefghij"]
    library = "\n".join(f"def {name}(value: int) -> int:\n    return value\n\n" for name in names)
    uses = "\n".join(f"print({name}(1))" for name in names if name != "name_g")
    far = "\n" * 60
    main = f"from library import {', '.join(names)}\n{uses}{far}x = name_g(1)\ny = {HOLE}\n"
    files = {"library.py": library, "main.py": main}
    (chunk,) = chosen(files, "main.py", "signatures", budget_tokens=20)
    assert chunk.text == "def name_g(value: int) -> int: ..."


def test_the_members_of_the_receiver_s_type_are_the_last_chunk_with_those_of_its_base():
    main = (
        "from app.session import Session\n\n\n"
        f"def extend(session: Session) -> float:\n    return session.{HOLE}\n"
    )
    files = {"app/session.py": SESSION, "main.py": main}
    chunk = chosen(files, "main.py")[-1]
    assert chunk.kind == "members"
    assert chunk.reason == "members of: Session"
    lines = chunk.text.split("\n")
    assert "    timeout_s: float = 30.0" in lines
    assert "    def renew(self, by_s: float) -> float: ..." in lines
    assert lines.index("class Base:") < lines.index("    def close(self) -> None: ...")


def test_the_members_of_a_base_in_another_file_are_found_for_self():
    main = (
        "from app.session import Base\n\n\nclass Door(Base):\n"
        f"    def slam(self) -> None:\n        self.{HOLE}\n"
    )
    (chunk,) = chosen({"app/session.py": SESSION, "main.py": main}, "main.py", "members")
    assert chunk.text == ("class Base:\n    is_open: bool = True\n    def close(self) -> None: ...")


def test_an_unknown_receiver_has_no_members():
    main = f"from app.session import Session\n\n\ndef f(thing):\n    thing.{HOLE}\n"
    assert chosen({"app/session.py": SESSION, "main.py": main}, "main.py", "members") == ()


def test_go_sees_its_package_without_an_import():
    files = {
        "store/session.go": (
            "package store\n\ntype Session struct {\n\tID string\n}\n\n"
            "func (s *Session) Close() error { return nil }\n\n"
            "func NewSession() *Session { return &Session{} }\n"
        ),
        "store/user.go": (
            f"package store\n\nfunc logout() error {{\n\ts := NewSession()\n\treturn s.{HOLE}\n}}\n"
        ),
        "other/session.go": "package other\n\nfunc NewSession() int { return 1 }\n",
    }
    chunks = chosen(files, "store/user.go", "members", "signatures")
    assert [chunk.path for chunk in chunks] == ["store/session.go"]
    assert chunks[0].text == (
        "type Session struct {\n\tID string\n}\n"
        "func (s *Session) Close() error\nfunc NewSession() *Session"
    )


def test_a_recent_edit_is_shown_as_it_is_now_and_dedented():
    old = "def a():\n    return 1\n"
    edited = "def a():\n    limit_of_retries = 17\n    return limit_of_retries\n"
    main = f"print({HOLE})\n"
    edit = RecentEdit(path=f"{ROOT}/lib.py", text=edited, start_line=1, end_line=2)
    (chunk,) = chosen({"lib.py": old, "main.py": main}, "main.py", "recent_edit", edits=(edit,))
    assert chunk.text == edited.rstrip()
    assert chunk.reason == "edited just now"


def test_a_recent_edit_outside_the_folder_or_in_a_secret_is_never_shown():
    text = "password_of_database = 'open sesame'\n"
    edits = tuple(
        RecentEdit(path=path, text=text, start_line=0, end_line=1)
        for path in ("/elsewhere/lib.py", f"{ROOT}/.env", f"{ROOT}/keys/lib.py")
    )
    files = {"main.py": f"password = {HOLE}\n"}
    assert chosen(files, "main.py", edits=edits) == ()


def test_nothing_of_another_opened_folder_is_shown():
    other, main = "/work/other", f"from lib import connect\n\nconnect({HOLE})\n"
    text = "def connect(host):\n    return open_connection(host)\n"
    place = place_in("main.py", main)
    edit = RecentEdit(path=f"{other}/lib.py", text=text, start_line=0, end_line=1)
    for folder, is_shown in ((ROOT, True), (other, False)):
        texts = {f"{ROOT}/main.py": main, f"{folder}/lib.py": text}
        chunks = choose_chunks(
            memory_index(texts, [ROOT, other]),
            replace(place, recent_edits=[replace(edit, path=f"{folder}/lib.py")]),
            ChunkOptions(budget_tokens=500),
        )
        assert bool(chunks) == is_shown


def test_signatures_come_from_the_text_that_the_editor_has():
    main = f"from lib import connect\n\nconnect({HOLE})\n"
    files = {"lib.py": "def connect(host):\n    pass\n", "main.py": main}
    newer = "def connect(host, port_of_service):\n    pass\n"
    edit = RecentEdit(path=f"{ROOT}/lib.py", text=newer, start_line=0, end_line=1)
    (chunk,) = chosen(files, "main.py", "signatures", edits=(edit,))
    assert chunk.text == "def connect(host, port_of_service): ..."


SIMILAR = """\
def export_invoices(invoices, folder):
    for invoice in invoices:
        target = folder / f"{invoice.number}.pdf"
        target.write_bytes(render_invoice(invoice))
        log_exported(invoice.number, target)
"""


def test_a_passage_like_the_code_around_the_hole_is_found():
    main = (
        "def export_receipts(receipts, folder):\n    for receipt in receipts:\n"
        f'        target = folder / f"{{receipt.number}}.pdf"\n        {HOLE}\n'
        "        log_exported(receipt.number, target)\n"
    )
    files = {"invoices.py": SIMILAR, "main.py": main, "noise.py": "colours = [1, 2, 3]\n" * 30}
    (chunk,) = chosen(files, "main.py", "similar")
    assert chunk.path == "invoices.py"
    assert "target.write_bytes(render_invoice(invoice))" in chunk.text


def test_lines_around_the_similar_passage_are_shown_where_there_is_room():
    around = [f"archive_of_{number} = open_archive({number})" for number in range(80)]
    invoices = "\n".join([*around[:40], SIMILAR, *around[40:]])
    main = SIMILAR.replace("invoice", "receipt").replace("log_", HOLE + "log_")
    files = {"invoices.py": invoices, "main.py": main}
    nums_shown = []
    for budget_tokens in (150, 500, 2_000):
        (chunk,) = chosen(files, "main.py", budget_tokens=budget_tokens)
        assert "target.write_bytes(render_invoice(invoice))" in chunk.text
        shown = [number for number, line in enumerate(around) if line in chunk.text]
        assert shown == list(range(min(shown, default=0), max(shown, default=-1) + 1))
        nums_shown.append(len(shown))
    assert sorted(set(nums_shown)) == nums_shown
    assert max(shown) - 39 > 39 - min(shown) > 10  # more below than above


def test_below_the_threshold_there_is_no_similar_passage():
    main = f"def paint(canvas, brush):\n    folder = canvas.mix(brush)\n    {HOLE}\n"
    assert chosen({"invoices.py": SIMILAR, "main.py": main}, "main.py", "similar") == ()


def test_a_source_file_gets_the_passage_of_its_test():
    files = {
        "src/prices.py": f"def gross_price(net, rate):\n    return {HOLE}\n",
        "tests/test_prices.py": (
            "from prices import gross_price\n\n\ndef test_vat_is_added_to_the_net_price():\n"
            "    assert gross_price(net=100, rate=0.2) == 120\n"
        ),
        "other/test_prices.txt": "gross_price net rate\n",
    }
    (chunk,) = chosen(files, "src/prices.py", "sibling")
    assert chunk.path == "tests/test_prices.py"
    assert chunk.reason == "tests this file"
    assert "assert gross_price(net=100, rate=0.2) == 120" in chunk.text


def test_a_test_gets_the_signatures_of_what_it_tests():
    files = {
        "src/prices.ts": "export function grossPrice(net: number): number { return net; }\n",
        "src/prices.spec.ts": f"it('adds', () => {{\n  expect(grossPrice({HOLE}\n}});\n",
    }
    (chunk,) = chosen(files, "src/prices.spec.ts", "sibling")
    assert chunk.text == "function grossPrice(net: number): number;"
    assert chunk.kind == "sibling"


def test_code_in_a_document_sees_what_it_imports():
    files = {
        "shop/session.py": SESSION,
        "README.md": "# Use\n\n```python\nfrom shop.session import Session\n```\n\nThen:\n\n"
        f"```python\nsession = Session(user)\nsession.renew({HOLE})\n```\n",
        "texts/Session.md": "# Session\n\nOf one user.\n",
    }
    chunks = chosen(files, "README.md", "signatures", "members")
    assert [one.path for one in chunks] == ["shop/session.py"]
    assert "def renew(self, by_s: float) -> float" in chunks[0].text


def test_a_heading_is_no_definition_of_code_in_a_document():
    files = {
        "cart/cart.go": "package cart\n\ntype Cart struct {\n\tTotal int\n}\n",
        "texts/cart.md": "# Cart\n\nHolds things.\n",
        "README.md": f"# Use\n\n```go\npackage cart\n\nvar c Cart = {HOLE}\n```\n",
        "cart/README.md": f"# Use\n\n```go\npackage cart\n\nvar c Cart = {HOLE}\n```\n",
    }
    assert chosen(files, "README.md", "signatures") == ()
    assert [one.path for one in chosen(files, "cart/README.md", "signatures")] == ["cart/cart.go"]


@pytest.mark.parametrize(
    ("tokens_per_s", "budget"),
    [(None, 500), (1.0, 150), (600.0, 540), (1_100.0, 990), (90_000.0, 4_000)],
)
def test_the_budget_is_what_is_read_in_nine_tenths_of_a_second(tokens_per_s, budget: int):
    assert context_budget(tokens_per_s) == budget
