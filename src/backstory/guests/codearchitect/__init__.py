"""CodeArchitect: conversations stored as Markdown files in the project, listed and read back."""
