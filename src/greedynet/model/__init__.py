"""What a fit results in: the network, its path, why it stopped, and the way back to its units.

May import `support`, `linalg`, `activations`, `losses` and `rows`.
"""
