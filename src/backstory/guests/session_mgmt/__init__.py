"""session-mgmt: begin, check and end work sessions, with project health, handoffs and reflections."""
