"""ProjectMemory: save texts, and find them by words or by meaning."""
