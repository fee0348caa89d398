"""What several readers need to read: lines, documents, databases and the marks of what no person wrote."""
