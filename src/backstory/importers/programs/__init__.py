"""The programs whose stores can be imported, a module each."""
