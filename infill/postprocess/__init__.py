"""The filters that turn a raw fill into a suggestion, in order."""
