"""The default model family: masked block diffusion on a causal backbone with a gated adapter.

``filler.MaskedCausalFiller`` answers fills. It needs an ``open_context.OpenContext`` (a backbone
and its contexts) and a ``fim_tokenizer.FimTokenizer``. The folder ``backbone`` runs the weights.
"""
