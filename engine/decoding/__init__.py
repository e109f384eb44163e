"""How forward passes become the tokens of a hole, on token ids.

Three ways: ``speculative.decode_speculatively``, ``entropy.decode_by_entropy`` and
``rewrite.rewrite``. The first two decode a ``hole_request.HoleRequest``; the result is
``tokens.HoleTokens``. Each takes a protocol of the backbone, so this folder knows no model.
"""
