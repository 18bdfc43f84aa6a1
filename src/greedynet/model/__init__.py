"""The result of a fit: the network, its selection path, and the reason why growth stopped.

Also the coordinates in which networks are grown. May import `support`, `linalg`, `activations`,
`losses` and `rows`.
"""
