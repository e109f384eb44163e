"""Measure speed and memory on this machine, for ``bench``.

``sections`` lists the parts of a benchmark, mostly one file each; ``figures`` has what they
measure with and return.
"""
