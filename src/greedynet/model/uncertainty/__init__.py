"""How wrong the network is on new rows, learned from rows that were held out.

calibration   what held-out rows say, and sets of classes
intervals     intervals of numbers; `local_size` is a part
outside       which rows are outside the training data
expectation   the errors to expect, as a sentence
"""
