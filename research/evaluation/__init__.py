"""Measure how good fills are: holes with known text, systems that fill them, figures of both.

``sets`` has the sources of cases, ``systems`` the systems. ``run`` lets every system fill every
case, ``judge`` compares answers with the known text, ``figures`` and ``compare`` summarise rows.
The language server runs as its own process; this package imports neither lsp nor torch.
"""
