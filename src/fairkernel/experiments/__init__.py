"""Experiments: data and settings in, plain dictionaries of numbers out."""
