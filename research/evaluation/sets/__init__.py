"""Where cases come from: one file a source."""
