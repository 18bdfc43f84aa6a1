"""How wrong the network is on new rows, learned from rows that were held out.

calibration   what a fit knows of rows that its networks had not seen
intervals     intervals of numbers; `local_size` is a part
class_sets    sets of classes
outside       which rows are outside the training data
expectation   the errors to expect, as a sentence
"""
