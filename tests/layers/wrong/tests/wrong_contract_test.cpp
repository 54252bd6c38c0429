// Runs one of those that implement Shape: Curve. The Edge of something else is none of them.
