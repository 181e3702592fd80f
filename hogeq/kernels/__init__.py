"""Every compiled loop: arrays in, arrays out, nothing of Hog."""

TIE = 1e-12  # win probabilities that differ by less are equal: so much is rounding in double
LEAST_WEIGHT = 1e-38  # of reach times temperature: its inverse is finite in single precision too
