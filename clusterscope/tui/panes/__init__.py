"""Panes: a numbered frame around one widget that follows the frame and the selection."""
