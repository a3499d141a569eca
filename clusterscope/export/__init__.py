"""Views as files."""
