"""What many memories say together: digests, patterns and advice, which the brief and several surfaces use."""
