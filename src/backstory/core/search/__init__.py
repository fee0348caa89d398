"""What finding depends on besides the question: which conversation is running, which decision supersedes another."""
