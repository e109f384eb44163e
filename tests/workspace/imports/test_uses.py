"""Uses of a renamed declaration in other files: all that are sure, and nothing else.

In the drawings ¹ follows each name that the rename changes, ² an imported name that is kept as an
alias, ³ a shorthand; the first mark is the declaration. Its own file is left to ``uses.py``.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from inline_parser import InlineParser

from intarsia.infill.replacement import with_replaced
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.imports.uses import uses_in_files
from intarsia.workspace.index.indexer import OwnIndex

PYTHON = {
    "a function, its imports and what only looks like it": {
        "shop/prices.py": "def total¹(lines):\n    return sum(lines)\n",
        "shop/__init__.py": "from .prices import total¹\n",
        "main.py": (
            "from shop.prices import total¹\n\n\ndef f(x):\n"
            '    """Return the total."""\n    print("total", x.total)  # total\n'
            "    return total¹(x) + total¹(x, total=1)\n\n\ndef g(total):\n    return total\n"
        ),
        "alias.py": "from shop.prices import total¹ as sum_up\n\ntotal = sum_up([])\n",
        "module.py": (
            "import shop.prices\nfrom shop import prices as p, other\n\n"
            "shop.prices.total¹([])\np.total¹([])\nother.total([])\n"
        ),
        "public.py": "from shop import total¹\n\nprint([total¹(x) for x in ()])\n",
        "star.py": "from shop.prices import *\n\nprint(total¹([]))\n",
        "stranger.py": "from pandas import total\n\nprint(total([]))\n",
        "neighbour.py": "from shop.taxes import total\n\nprint(total([]))\n",
        "shop/taxes.py": "def total(lines):\n    return total(lines)\n",
        "shadow.py": "from shop import prices\n\n\ndef f(prices):\n    return prices.total\n",
    },
    "a module of the standard library beside one of the same name": {
        "app/json.py": "def loads¹(text):\n    return text\n",
        "app/reader.py": "from json import loads\n\nloads('')\n",
        "app/own.py": "from .json import loads¹\n\nloads¹('')\n",
        "__init__.py": "",
        "app/__init__.py": "",
    },
    "a module with the name of its function": {
        "tool/bar.py": "def bar¹():\n    return 1\n",
        "tool/__init__.py": "",
        "use.py": "from tool import bar\n\nbar.bar¹()\n",
        "own.py": "from tool.bar import bar¹\n\nbar¹()\n",
    },
    "a list of public names, and a file that has the new name": {
        "kit/core.py": "def total¹():\n    return 1\n",
        "kit/__init__.py": 'from .core import total²\n\n__all__ = ["total"]\n',
        "user.py": "from kit import total\n\ntotal()\n",
        "clash.py": "from kit.core import total²\n\nrenamed = total()\n",
        "spare.py": (
            "try:\n    from kit.core import total²\nexcept ImportError:\n"
            "    from spare import total\n\ntotal()\n"
        ),
    },
    "a field": {
        "model.py": (
            "from dataclasses import dataclass\n\n\n@dataclass\nclass Order:\n"
            "    price_cents¹: int = 0\n\n\n@dataclass\nclass Cart:\n    order: Order\n"
            "    orders: list[Order]\n\n\ndef first(cart: Cart) -> Order:\n    return cart.order\n"
        ),
        "told.py": (
            "from model import Cart, Order, first\nimport model\n\n\n"
            "def f(order: Order, cart: Cart, other, row: 'Row'):\n"
            "    print(order.price_cents¹, other.price_cents, row.price_cents)\n"
            "    print(cart.order.price_cents¹, first(cart).price_cents¹)\n"
            "    for it in cart.orders:\n        print(it.price_cents¹, to_row(it).price_cents)\n"
            "    made = Order(price_cents¹=2)\n    print(Row(price_cents=1))\n"
            "    return made.price_cents¹ + model.first(cart).price_cents¹\n"
        ),
        "strange.py": (
            "from other import Order\n\n\ndef f(order: Order):\n    return order.price_cents\n"
        ),
        "maker.py": (
            "from model import Order\n\n\ndef make() -> Order:\n    return Order()\n\n\n"
            "class Special(Order):\n    def show(self):\n        return self.price_cents¹\n"
        ),
        "made.py": (
            "from maker import make\n\nmade = make()\nprint(made.price_cents¹)\n"
            "print(().price_cents, {}.price_cents, list().price_cents, ''.price_cents)\n"
        ),
        "same.py": (
            "from model import Order\n\n\nclass Row:\n    price_cents: int = 0\n\n\n"
            "def f(row: Row, order: Order):\n    return row.price_cents + order.price_cents¹\n"
        ),
        "unsure.py": (
            "from model import Order\n\n\ndef f(Order):\n    return Order().price_cents\n"
        ),
    },
    "a method, and what overrides it": {
        "base.py": "class Shape:\n    def area¹(self):\n        return 0\n",
        "circle.py": (
            "from base import Shape\n\n\nclass Circle(Shape):\n    def area¹(self):\n"
            "        return super().area¹()\n\n\nclass Text:\n    def area(self):\n"
            "        return 1\n\n\ndef f(it: Circle, text: Text):\n"
            "    return it.area¹() + text.area()\n"
        ),
    },
    "a parameter": {
        "draw.py": "def line(start, width¹=1):\n    return start * width\n",
        "use.py": (
            "from draw import line\nimport draw\n\nline(1, width¹=2)\ndraw.line(1, width¹=2)\n"
            "other(width=3)\nwidth = 4\n"
        ),
    },
    "a local variable": {
        "a.py": "def f():\n    total¹ = 1\n    return total\n",
        "b.py": "from a import total\n\nprint(total)\n",
    },
}
OTHERS = {
    "TypeScript: functions and how modules pass them on": {
        "src/prices.ts": "export function total¹(lines: number[]) {\n  return lines.length;\n}\n",
        "src/index.ts": 'export { total¹ } from "./prices";\n',
        "src/all.ts": 'export * from "./prices";\n',
        "src/use.ts": (
            'import { total¹ } from "./index";\nimport * as prices from "./prices";\n'
            'import { total¹ as sum } from "./all";\n\n'
            'const one = total¹([1]) + prices.total¹([]); // total\nconst text = "total";\n'
            "const object = { total: total¹ };\nconst short = { total³ };\n"
            "object.total;\nfunction f(total: number) {\n  return total + sum([]);\n}\n"
        ),
        "src/two.ts": 'import { total as other } from "other";\n'
        'import { total¹ } from "./prices";\n\ntotal¹([other]);\n',
        "src/page.jsx": 'import { total¹ } from "./prices";\n\nexport default () => total¹([]);\n',
        "src/kept.ts": 'import { total² } from "./prices";\nexport { total };\n'
        "export const renamed = 1;\n",
        "src/lodash.ts": 'import { total } from "lodash";\n\ntotal([]);\n',
    },
    "TypeScript: what has another name outside": {
        "a.ts": "function total¹() {}\nexport { total };\n",
        "b.ts": 'import { total } from "./a";\n\ntotal();\n',
    },
    "TypeScript: a property": {
        "model.ts": "export interface Order {\n  priceCents¹: number;\n}\n"
        "export function load(): Order {\n  return { priceCents: 1 };\n}\n",
        "use.ts": 'import { type Order, load } from "./model";\n\n'
        "function f(order: Order, row: Row) {\n  return order.priceCents¹ + row.priceCents;\n}\n"
        "const made: Order = { priceCents¹: 2 };\nload().priceCents¹;\nother.priceCents;\n",
    },
    "TypeScript: a method of the main class": {
        "options.ts": "export default class Options {\n  merge¹() {}\n}\n",
        "index.ts": 'export { default as Settings } from "./options";\n',
        "use.ts": 'import Options, { type Other } from "./options";\n\n'
        "new Options().merge¹();\nfunction f(one: Options, other: Other) {\n"
        "  one.merge¹();\n  other.merge();\n}\n",
        "else.ts": 'import Options from "./other";\n\nnew Options().merge();\n',
    },
    "Go": {
        "go.mod": "module example.com/shop\n",
        "prices/prices.go": "package prices\n\nfunc Total¹(n int) int { return n }\n",
        "prices/more.go": "package prices\n\nvar x = Total¹(1) // Total\n\n"
        "type row struct{ Total int }\n\nvar r = row{Total: 1}\n",
        "prices/outer_test.go": "package prices_test\n\nfunc f() { Total(1) }\n",
        "main.go": 'package main\n\nimport (\n\t"example.com/shop/prices"\n\t"other/tax"\n)\n\n'
        "func main() { prices.Total¹(2); tax.Total(3) }\n",
        "alias.go": 'package main\n\nimport p "example.com/shop/prices"\n\nvar y = p.Total¹(2)\n'
        "func g(p *T) int { return p.Total }\n",
    },
    "Go: a field": {
        "go.mod": "module example.com/shop\n",
        "model/model.go": "package model\n\ntype Order struct {\n\tPrice¹ int\n}\n\n"
        "func Load() (*Order, error) { return nil, nil }\n",
        "model/same.go": "package model\n\nfunc (o *Order) Cost() int { return o.Price¹ }\n",
        "main.go": 'package main\n\nimport "example.com/shop/model"\n\n'
        "func f(o model.Order, r Row) int { return o.Price¹ + r.Price }\n"
        "func g() int { o, _ := model.Load(); return o.Price¹ }\n"
        "var one = model.Order{Price¹: 1}\n",
    },
    "Rust": {
        "Cargo.toml": '[package]\nname = "shop"\n',
        "src/lib.rs": "pub mod prices;\npub mod other;\npub mod user;\n",
        "src/prices.rs": "pub fn total¹(n: u32) -> u32 { n }\npub struct Order;\n",
        "src/user.rs": "use crate::prices::{total¹, Order};\nuse crate::prices;\n\n"
        "fn f() -> u32 { total¹(1) + prices::total¹(2) + crate::prices::total¹(3) }\n"
        "fn g(total: u32) -> u32 { total }\n",
        "src/other.rs": "use std::iter::total;\n\nfn f() { total(1); crate::other::total(2); }\n",
        "src/alias.rs": "use crate::prices::total¹ as sum;\n\nfn f() { sum(1); }\n",
        "src/single.rs": "use crate::prices::total¹;\n\nfn f(it: total::X) { total¹(1); }\n",
        "src/itself.rs": "use crate::{other::A, prices::{self, Order}};\n\n"
        "fn f() { prices::total¹(1); }\n",
        "src/twice.rs": "fn f() { use crate::prices::total; total(1); }\n"
        "fn g() { use crate::other::total; total(1); }\n",
    },
    "Java": {
        "src/shop/Order.java": "package shop;\n\npublic class Order {\n"
        "    public int price¹() { return 1; }\n}\n",
        "src/shop/Cart.java": "package shop;\n\nclass Cart {\n    Order order;\n"
        "    int cost(Row row) { return order.price¹() + this.order.price¹() + row.price(); }\n}\n",
        "src/app/Main.java": "package app;\n\nimport shop.Order;\n\nclass Main {\n"
        "    int f(Order it) { return it.price¹(); }\n"
        "    int g(Row it) { return it.price(); }\n}\n",
        "src/app/Other.java": "package app;\n\nimport bank.Order;\n\nclass Other {\n"
        "    int f(Order it) { return it.price(); }\n}\n",
    },
    "Java: two classes of one name": {
        "one/shop/Order.java": "package shop;\n\npublic class Order¹ {}\n",
        "two/shop/Order.java": "package shop;\n\npublic class Order {}\n",
        "two/shop/Cart.java": "package shop;\n\nclass Cart { Order one; }\n",
        "one/shop/Cart.java": "package shop;\n\nclass Cart { Order¹ one; }\n",
    },
    "Java: a class": {
        "src/shop/Order.java": "package shop;\n\npublic class Order¹ {}\n",
        "src/shop/Cart.java": "package shop;\n\nclass Cart { Order¹ one = new Order¹(); }\n",
        "src/app/Main.java": "package app;\n\nimport shop.Order¹;\n\nclass Main { Order¹ it; }\n",
        "test/shop/CartTest.java": "package shop;\n\nclass CartTest { Order¹ it; }\n",
        "src/app/Other.java": "package app;\n\nimport bank.Order;\n\nclass Other { Order it; }\n",
    },
}
CASES = {**PYTHON, **OTHERS}


def plain(drawing: str) -> str:
    return re.sub("[¹²³]", "", drawing)


def renamed_files(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that the rename of the first mark's name changes."""
    first, drawing = next(it for it in files.items() if "¹" in it[1])
    head = drawing.partition("¹")[0]
    name = head[len(head.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")) :]
    root = folder / "p"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(plain(text))
    settings = [RootSettings(path=str(root))]
    with OwnIndex(settings, folder / "databases", lambda on: InlineParser(on, [])) as own:
        assert own.update()
        at = len(head) - len(name)
        path = (root / first).as_posix()
        found = uses_in_files(own.index, path, plain(drawing), at, "renamed")
    inside = {Path(it.path).relative_to(root).as_posix(): it for it in found}
    assert {path: it.text for path, it in inside.items()} == {it: plain(files[it]) for it in inside}
    return {path: with_replaced(it.text, it.replacements) for path, it in inside.items()}


@pytest.mark.parametrize("name", CASES)
def test_all_sure_uses_are_found_and_no_others(name: str, tmp_path: Path) -> None:
    files = CASES[name]
    declared, drawing = next(it for it in files.items() if "¹" in it[1])
    head = drawing.partition("¹")[0]
    old = head[len(head.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")) :]
    forms = {"¹": "renamed", "²": f"renamed as {old}", "³": f"{old}: renamed"}
    expected = {
        path: re.sub(rf"{old}([¹²³])", lambda it: forms[it[1]], text)
        for path, text in files.items()
        if path != declared and plain(text) != text
    }
    assert renamed_files(tmp_path, files) == expected
