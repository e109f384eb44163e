"""Joins the steps of a fill: text and place in, filled text out. Shared by lsp, cli and research.

``plan.FillPlan`` turns a hole into the engine's request and reads the answer;
``attempts.Attempts`` says when to ask again, as an answer does not pass; ``outcome``,
``fill_in_order`` and ``fill_all`` fill one hole, several places, or every hole of a text.
Knows neither files nor terminals nor LSP, and of the engine only its messages.
"""
