"""From text and place to filled text, through whatever asks the engine: shared by lsp and cli.

Knows neither files nor terminals nor LSP; imports infill and the engine's messages only.
"""
