"""Hypothesis strategies: texts that look like correct or broken code, and the known languages."""

from hypothesis import strategies as st

from intarsia.infill.languages import PLAIN_TEXT, all_languages

PIECES = [
    *"\n\n\n    \t()[]{}<>:;,.'\"`=+-*/#$@!&|\\",
    *("\r\n", "\r", "\ufeff", "\0", "\ud83d", "\ude00", "😀", "e\u0301", "\u2028", "\x0c", "ü"),
    *("def f(x):", "class A {", "if x then", "end", "} else {", "return x", "for (;;) {", "do |a|"),
    *("<div>", "</div>", "/*", "*/", '"""', "<?php", "${", "#{", "<<EOF", "x = 1", "foo(bar)"),
    *("switch x {", "case 1:", "fi", "done", "<|endoftext|>", "```\n", "    foo()\n", "}\n"),
    *("```python\n", "````js\n", "~~~\n", "> ", "- "),
    *("...", "pass", "# TODO", "// TODO\n", "todo!()", "fn f() {}", 'throw new Error("TODO");'),
]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=40)
languages = st.sampled_from([*all_languages(), PLAIN_TEXT])
