"""Measures next edits: after an edit of a commit, are the commit's other changes found?"""
