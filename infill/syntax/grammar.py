"""Loads the tree-sitter grammar of a language on first use, and keeps it."""

from functools import cache
from importlib import import_module

import tree_sitter

from intarsia.infill.languages import Grammar


@cache
def load_grammar(grammar: Grammar) -> tree_sitter.Language:
    """Return the grammar. It stays in memory; there are fewer than twenty."""
    module = import_module(grammar.module)
    return tree_sitter.Language(getattr(module, grammar.function)())
