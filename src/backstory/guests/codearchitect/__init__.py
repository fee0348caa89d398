"""CodeArchitect: conversations as Markdown files in the project, stored whole, listed and read back."""
