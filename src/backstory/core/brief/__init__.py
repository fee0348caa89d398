"""What a new session is told of its project: made by `briefing`, worded by `rendering`, rendered ahead by `files`.

Empty, so that a server may look every minute whether a file is due without importing what makes one."""
