"""Do our engine and servers of others write the same text with the same weights, greedily?"""
