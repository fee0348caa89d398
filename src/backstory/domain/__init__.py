"""Records, filters, errors and times. Pure: imports nothing of ours."""
