"""The index of the opened folders, in SQLite, kept up to date in a process of its own."""
