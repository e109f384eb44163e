"""The default models: where their weights come from, and the adapter that we ship for them."""
