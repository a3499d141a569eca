"""Screens: loading, picker, explorer, help."""
