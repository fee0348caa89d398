"""The programs whose stores can be imported, one module each."""
