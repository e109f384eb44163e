"""The language server: answers editors over LSP and asks the engine for fills.

``method_table`` builds and serves it; ``settings`` holds its options. It knows neither tokens nor
torch.
"""
