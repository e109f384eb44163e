"""Joins the steps of a fill: text and place in, filled text out. Shared by lsp, cli and research.

``plan.FillPlan`` turns a hole into the engine's request and reads the answer, ``plan.Attempts``
says when to ask again, and ``judged`` how much of a text is shown. ``outcome`` fills one hole,
``fill_places`` several places or every hole of a text, ``instruct`` follows an instruction.
Knows neither files nor terminals nor LSP, and of the engine only its messages.
"""
