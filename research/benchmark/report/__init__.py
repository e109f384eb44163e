"""What a benchmark shows: its figures as a table, as JSON and as pictures."""
