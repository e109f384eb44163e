"""The definitions and imports of a source file, found by tree-sitter queries."""
