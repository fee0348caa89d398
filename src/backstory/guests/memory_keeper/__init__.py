"""Memory Keeper: keyed items in sessions, with channels, checkpoints, exports and analyses."""
