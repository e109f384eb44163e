"""Finds lines that an edit has made unlikely, and writes what could replace them."""
