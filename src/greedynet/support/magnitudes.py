"""Numbers that stand in for those which floating point cannot hold, or not compute with.

They decide nothing but where rows or weights lie beyond all reason; each is as large as what is
done with it afterwards allows.
"""

# The largest input: sums and differences of very many such numbers do not overflow.
LARGEST = 2.0**1000
# In place of infinite predictions: the differences between them are finite.
INFINITE = 1e300
# In place of larger losses and logits: their squares are finite.
LARGEST_LOSS = 1e150
# In place of larger scores and coordinates: sums of their squares are finite.
LARGEST_SCORE = 1e100
# Scaled outputs beyond it are all the same: fourth powers of them are finite.
LARGEST_OUTPUT = 1e60
# Added to numbers that may be zero before they divide.
TINY = 1e-300
