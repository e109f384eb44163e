"""Measure what a model costs at full size: time of passes and fills, and memory.

Programs: ``python -m intarsia_research.model_cost`` (DiffusionGemma's shape, random weights),
``….fill_cost`` (single-line holes) and ``….pass_cost`` (one pass of a causal backbone).
"""
