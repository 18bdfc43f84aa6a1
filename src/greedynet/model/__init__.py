"""The result of a fit: the network, its selection path, and the reason why growth stopped.

Also what is known of new rows (intervals, sets of classes, rows outside the training data), and the
coordinates in which networks are grown. May import `support`, `linalg`, `activations`,
`losses` and `rows`.
"""
