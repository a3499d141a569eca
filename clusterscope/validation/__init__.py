"""Published and derivable results, derived again by the engine."""
