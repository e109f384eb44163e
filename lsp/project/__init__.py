"""Code of other files for suggestions: what the user edits, the index, and the chosen chunks."""
