"""The causal backbone: its weights, its forward passes in torch or int8, and its KV cache.

``load.load_backbone`` returns an ``interface.CausalBackbone``; ``rows`` builds what a pass takes,
``tuning`` applies a tuning to the weights.
"""
