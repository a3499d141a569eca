"""Which bytes want to go."""
