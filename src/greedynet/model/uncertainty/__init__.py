"""How wrong the network is on new rows, learned from rows that were held out.

evidence      what a fit knows of rows that its networks had not seen
intervals     intervals of numbers; `local_size`, `size_path`, `scores` and `student` are parts
class_sets    sets of classes
groups        how much held-out rows say that are not independent
seen          which rows are outside the training data
expectation   the errors to expect, as a sentence
"""
