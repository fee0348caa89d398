"""Formats that several readers share: lines, documents, databases, and markers of text that no person wrote."""
