"""From what the user calls a model to a checked folder: catalog, download, conversion."""
