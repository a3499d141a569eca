"""Time: events, frames, rates and the timeline."""
