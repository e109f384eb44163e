"""One file a request: LSP parameters come in, an LSP result goes out."""
