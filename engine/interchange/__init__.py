"""Tunings and models in the file formats of other projects: PEFT's LoRA, Hugging Face's folders.

Runs in the process of a command, never in the engine. Reads and writes safetensors and JSON only.
"""
