"""Fill holes through a server of another engine, such as llama.cpp: a Filler without a model.

It runs in the user's own engine process, and imports no torch.
"""
