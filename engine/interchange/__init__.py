"""Tunings and models in formats of other projects, for commands: PEFT, Hugging Face, GGUF."""
