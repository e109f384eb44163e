"""Measure what a model costs: time of passes, and memory.

Programs: ``python -m intarsia_research.model_cost.pass_cost`` (one pass of a causal backbone) and
``….gemma_cost`` (DiffusionGemma's shape with random weights, for a GPU).
"""
