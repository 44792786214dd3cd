"""Moved: see `machines`, `baselines`, `metrics`, `similarities` and `scorers`; goes away in 0.3."""
