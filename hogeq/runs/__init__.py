"""Experiments: configs, runs, their directories, sweeps."""
