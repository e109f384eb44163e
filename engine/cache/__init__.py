"""The user's cache folder: where it is, locks for its writers, digests, and progress of long work.

``folder.cache_folder`` is where everything that is downloaded, converted or compiled is kept.
"""
