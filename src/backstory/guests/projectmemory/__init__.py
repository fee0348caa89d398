"""ProjectMemory: save texts, and find them again by words or by meaning."""
