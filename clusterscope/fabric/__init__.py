"""What is cabled to what: a spec compiled to arrays."""
