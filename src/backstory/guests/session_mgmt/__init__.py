"""session-mgmt: begin, check and end sessions of work, with a project's health, a handoff and reflections."""
