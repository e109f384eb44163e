"""How good fills are: holes whose text is known, whoever can fill them, and figures with intervals.

Asks as an editor does, through the language server, or straight; imports neither lsp nor torch
(a baseline that needs torch imports it when it is asked for).
"""
