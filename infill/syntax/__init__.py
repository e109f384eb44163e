"""Source text as a syntax tree: parsing within bounds, nodes, blocks, brackets, indentation."""
