"""Widgets: one a shape, and the bars; they know no domain word."""
