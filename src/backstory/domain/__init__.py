"""Records, filters, errors and times. This package has no input or output and imports nothing else of Backstory."""
