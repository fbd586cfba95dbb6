"""Long trials of the whole service, run by hand: `python -m tests.endurance`."""
