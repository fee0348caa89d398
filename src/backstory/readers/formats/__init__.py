"""What several readers need to read: lines, documents, databases and the signs of what no person wrote."""
