"""The language server: answers editors over LSP and asks the engine for fills.

``features`` builds and serves it; ``settings`` holds its options. Knows nothing of tokens or torch.
"""
