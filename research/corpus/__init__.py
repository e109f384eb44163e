"""Build a training corpus: source files of permissively licensed packages, and holes in them.

Public interface: ``build.build_corpus``, ``corpus_file.read_corpus``, ``holes.draw_holes`` and
``repository.read_repository``. No code of a package is run or imported. Knows text, not tokens.
"""
