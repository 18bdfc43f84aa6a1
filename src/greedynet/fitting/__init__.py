"""The algorithm: `construct.py` describes every fit on one page, and calls the modules beside it.

May import everything up to `correction`. It is called by the estimators and knows nothing of them.
Each line may import those above it:

    settings, plan                          what was asked for
    make_search, problem                    the greedy loop, its search, rows in scaled coordinates
    split, forms                            folds, and rows as networks of a form see them
    measures, scores, candidates            what is tried, and by which losses it is chosen
    growth                                  networks on the rows of a fold, without corrections or
    squares, reweighted, log_loss, as_grown for squares, other losses and classes
    objective                               all that differs between regression and classification
    climb, refit, construct                 two of the three steps, and the page
"""
