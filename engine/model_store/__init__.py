"""From what the user calls a model to a checked folder on the disk: catalog, download, conversion.

Its public interface is ``locate.locate_model`` and ``download.pull``. Knows no tensors; the weights
that intarsia ships are in ``bundled/``.
"""
