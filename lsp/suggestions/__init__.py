"""Ghost text and its cache, the outcome of a request, and when a request is made or dropped."""
