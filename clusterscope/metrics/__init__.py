"""Numbers a person asks for."""
