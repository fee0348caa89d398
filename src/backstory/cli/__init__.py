"""The commands. One module each: `add_arguments(parser)` and `run(options, settings) -> Report`."""
