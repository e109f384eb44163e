"""Finds out once what a server is and can do, and whether its tokenizer is ours."""
