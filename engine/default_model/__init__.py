"""The default models: where their weights come from, and the adapter that makes a canvas of them."""
