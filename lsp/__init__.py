"""The language server: LSP in, LSP out. Knows nothing of tokens or torch."""
