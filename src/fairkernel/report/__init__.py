"""Reports: plain dictionaries in, sentences, a plot and a self-contained page out."""
