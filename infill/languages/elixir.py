"""Elixir."""

from msgspec.structs import replace

from intarsia.infill.languages import PLAIN_STUB, braces

ELIXIR = braces(
    "elixir",
    aliases=("ex",),
    extensions=(".ex", ".exs"),
    openers="{[",
    header=r"\b(?:do|else|rescue|catch|after|fn)$|->$",
    ends=("end", '"""'),
    typical=r"^\s*defp? \w+.*do$|^defmodule |\|>|\bdo$|^\s*end$|%\{",
    holes="""
        (call
          target: (identifier) @_keyword
          (do_block) @named
          (#any-of? @_keyword "def" "defp" "defmacro" "defmacrop")) @owner
        (do_block) @block
    """,
    modules="snake_case",
    stub=replace(PLAIN_STUB, class_start=" do", class_end="end"),
)
