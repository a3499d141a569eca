"""Where bytes may go."""
