"""Repairs a place of a text that a parser or another language server reports as an error.

Small edits are proposed by rules and by the model. One counts only if the text parses better with
it, and if the model finds it likelier than the text that is there. Knows neither LSP nor files.
"""
