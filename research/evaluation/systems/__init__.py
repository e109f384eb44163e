"""The systems that fill cases: our language server, our engine, and baselines.

``language_server`` and ``direct`` ask our own; ``llama_cpp`` and ``transformers_backbone`` are
baselines.
"""
