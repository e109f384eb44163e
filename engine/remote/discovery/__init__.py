"""What a server is and can do, asked of it once, and whether its tokenizer is ours."""
