"""What a transport does to a route and a rate."""
