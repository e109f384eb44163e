"""Renamed declarations: all their uses are offered without a model, and nothing else is.

In the drawings a mark follows each name that one rename changes; its first place is the
declaration. A shorthand has two marks: of its key, and of its value.
"""

import re

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.infill.next_edit.plan import EditedText
from intarsia.infill.next_edit.renaming import renamed_uses
from intarsia.infill.next_edit.settled_edit import Hunk, settled_edit

SOURCES = {
    "models": '''
from dataclasses import dataclass, replace

@dataclass
class Article:
    number: str
    price_cents¹: int
    quantity: int = 0

@dataclass
class Line:
    article: Article
    quantity²: int

    def total_cents³(self) -> int:
        """Return the price of this line: price_cents * quantity."""
        return self.article.price_cents¹ * self.quantity²

class Order:
    def __init__(self, number: str):
        self.lines⁴: list[Line] = []

    def add(self, article: Article, count⁵: int) -> None:
        self.lines⁴.append(Line(article, quantity²=count⁵))

    def total(self) -> int:
        return sum(line.total_cents³() for line in self.lines⁴)

def cheaper(article: Article) -> Article:
    log(quantity=1, price_cents="price_cents")
    return replace(article, price_cents¹=article.price_cents¹ - 1, quantity=3)
''',
    "inventory": """
from collections import Counter

class Inventory:
    def __init__(self) -> None:
        self._articles¹: dict[str, Article] = {}

    def find(self, number²: str, default=None):
        if number² not in self._articles¹:
            print(f"no {number²}", "number")
        return self._articles¹.get(number², other.number)

def report³(orders, number=0):
    revenue⁴ = Counter()
    for order in orders:
        revenue⁴[order.number] += order.revenue
    names = [number for number in revenue⁴]
    return revenue⁴, names

def of_two(orders):
    total⁶ = 0
    def add():
        nonlocal total⁶
        total⁶ += 1
    def other(total):
        return total
    return total⁶, report³(orders, number=2)

Inventory().find(number²=3)
""",
    "typescript": """
interface Line { article: Article; quantity¹: number }
interface Box { lines: string[]; quantity: number }
export class Cart {
  private lines²: Line[] = [];
  constructor(private base³: string) {}
  add(article: Article, quantity⁴: number): void {
    const found = this.lines².find((line) => line.article === article);
    if (found) { found.quantity¹ += quantity⁴; return; }
    this.lines².push({ article, quantity¹⁴ });
  }
  total⁵(): number {
    return this.lines².reduce((sum, line) => sum + line.quantity¹, 0);
  }
  url⁶(path⁷: string): string { return `${this.base³}/${path⁷}/base`; }
}
function pack(box: Box, cart: Cart, url: string) {
  const { quantity } = box;
  const lines⁸ = box.lines;
  for (const line of lines⁸) { console.log(line, quantity, box.quantity, cart.total⁵()); }
  const other = (box as unknown) as Cart, same = <Cart>(other as Box);
  other.total⁵() + (url as Cart).total⁵() + (cart as Box).quantity + same.total⁵();
  return { lines: lines⁸, url: cart.url⁶(url) };
}
""",
    "go": """
package shop
type Article struct { Price¹ int; Stock int }
type Box struct { Price int }
func (a² *Article) Total³(n int) int { return a².Price¹ * n }
func sum⁴(xs []Article, b Box) int {
	total⁵ := b.Price
	for _, x⁶ := range xs { total⁵ += x⁶.Total³(2) + x⁶.Price¹ }
	if total := 3; total > 2 { println(total, "total") }
	y := []Article{{Price¹: 3}, {Stock: 1}}
	return total⁵ + len(y) + http.Price
}
func Total(x int) int { return sum⁴(nil, Box{Price: 2}) }
func any(in interface{}) int {
	c⁷ := in.(*Article)
	if b, ok := in.(Box); ok { return b.Price }
	return c⁷.Total³(1) + c⁷.Price¹ + in.(*Article).Price¹
}
""",
    "rust": """
struct Article { price¹: u32, stock: u32 }
struct Bundle { price: u32 }
impl Article {
    fn new(price²: u32) -> Self { Article { price¹: price² * 0, stock: 0 } }
    fn make(price³: u32) -> Self { Self { price¹³, stock: 0 } }
    fn total⁴(&self, n: u32) -> u32 { self.price¹ * n }
}
fn sum(xs: &[Article], b: &Bundle) -> u32 {
    let rate⁵ = 3;
    let all: u32 = xs.iter().map(|a⁶| a⁶.total⁴(rate⁵) + a⁶.price¹).sum();
    let rate⁷ = rate⁵ + b.price;
    println!("rate {}", rate⁷);
    let Article { price¹ˣ, .. } = &xs[0];
    all + price
}
""",
    "java": """
class Article {
    private int price¹;
    Article(int price²) { this.price¹ = price²; }
    int total³(int n⁴) { return price¹ * n⁴; }
    boolean isDearer(Article other⁵) { int total = 3; return other⁵.total³(total) > total³(1); }
}
class Box { int price; int total() { return price; } }
class Shop {
    static int sum⁶(java.util.List<Article> articles⁷, Box box) {
        int all⁸ = box.total() + box.price;
        for (Article a⁹ : articles⁷) { all⁸ += a⁹.total³(2) + ((Article) box).price¹; }
        articles⁷.forEach(a -> a.total³(1)); // total, all, price
        return all⁸ + sum⁶(null, box);
    }
}
""",
    "c": """
typedef struct { int price¹; int stock; } Article;
struct box { int price; };
static int total²(const Article *a³, int n);
static int total²(const Article *b⁴, int n⁵) { return b⁴->price¹ * n⁵; }
int sum(Article *xs, int count⁶, struct box *box) {
    int all⁷ = box->price, i⁸;
    Article first = { .price¹ = 3 };
    for (i⁸ = 0; i⁸ < count⁶; i⁸++) { int n = 2; all⁷ += total²(&xs[i⁸], n) + xs[i⁸].price¹; }
    { int all = 3; printf("all %d", all); }
    return all⁷ + first.price¹;
}
""",
}
SOURCES["go, long"] = (
    SOURCES["go"]
    + "func long(x int) int {\n\tx += 1\n"
    + "\tx += Total(x)\n" * 600
    + "\treturn x\n}\nfunc last(x *Article) int { return x.Total³(1) }\n"
)
_TAGGED = re.compile(r"([A-Za-z_]+)([¹²³⁴⁵⁶⁷⁸⁹ˣ]+)")
RENAMES = [
    (source, mark) for source, text in SOURCES.items() for mark in "¹²³⁴⁵⁶⁷⁸⁹" if mark in text
]


def offered(before: str, edited: str, language: str) -> str:
    """Return the edited text with all that is offered; nothing is offered that is not sure."""
    edit = settled_edit(before, edited)
    assert isinstance(edit, Hunk)
    text = EditedText(before=before, after=edited, edit=edit, newest=edit.new_range)
    offers = renamed_uses(text, language_for_id(language))
    assert {it.level for it in offers} <= {"sure"}
    for offer in sorted(offers, key=lambda it: -it.start):
        edited = offer.applied_to(edited)
    return edited


@pytest.mark.parametrize(("source", "mark"), RENAMES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_all_uses_of_a_renamed_declaration_are_offered(source: str, mark: str, newline: str):
    language = "python" if source in ("models", "inventory") else source.partition(",")[0]
    drawn = SOURCES[source].replace("\n", newline)

    def renamed(word: re.Match[str]) -> str:
        name, marks = word.groups()
        if mark not in marks:
            return name
        if len(marks) == 1:
            return "renamed"
        return f"renamed: {name}" if marks[0] == mark else f"{name}: renamed"

    before, after = _TAGGED.sub(r"\1", drawn), _TAGGED.sub(renamed, drawn)
    first = next(it for it in _TAGGED.finditer(drawn) if mark in it[2])
    start = len(_TAGGED.sub(r"\1", drawn[: first.start()]))
    edited = before[:start] + renamed(first) + before[start + len(first[1]) :]
    assert offered(before, edited, language) == after


@pytest.mark.parametrize(
    ("language", "before", "old", "new"),
    [
        ("python", "x = 1\ny = 2\nprint(x)\n", "print(x", "print(y"),  # a use
        ("python", "x = a()\nuse(x)\nx = b()\nuse(x)\n", "x = b", "z = b"),  # set again
        ("python", "def f(a, b):\n    return a + b\n", "(a, b", "(b, b"),  # in use
        ("python", "def f(a):\n    b = 1\n    return a + b\n", "(a", "(b"),
        ("python", "class A:\n    a: int\n    b: int\n\nA().a\n", "a: int", "b: int"),
        ("python", 'KEY = "old"\nprint("old", old)\n', '"old"', '"new"'),  # a string
        ("python", "# old\nold = 1\nprint(old)\n", "# old", "# new"),
        ("python", "import old\nx = old.a\ny = old.b\n", "old.a", "old.c"),
        ("python", "size = 3\nprint(size)\n", "3", "4"),
        ("python", "def f():\n    pass\n\nf()\n", "def f", "async def f"),
        ("typescript", "let a = 1;\nconst b = 2;\nlog(a);\n", "let a", "let a: number"),
        ("go", "package p\nfunc f() {\n\tx := 1\n\tg(x)\n}\n", "g(", "h("),
        ("rust", "fn f() { let x = 1; g(x); }\nfn g(y: u8) {}\n", "g(x", "h(x"),
        ("java", "class A { int a; int b; int f() { return a; } }\n", "int a", "int b"),
        ("c", "int f(int n) {\n    return n + m;\n}\n", "int n", "int m"),
        ("ruby", "def f(a)\n  a\nend\n", "f(a", "f(b"),  # no scopes are known
    ],
)
def test_other_edits_give_no_sure_offer(language: str, before: str, old: str, new: str):
    edited = before.replace(old, new, 1)
    assert offered(before, edited, language) == edited
