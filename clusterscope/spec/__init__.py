"""What a user wrote: cluster specs, the parts catalogue and the presets."""
