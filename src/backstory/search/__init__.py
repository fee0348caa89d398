"""Find entries by words and by meaning. Nothing here knows SQL; nothing in the store knows a model."""
