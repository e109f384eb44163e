"""The handlers: one module for each LSP request, and the steps that they share."""
