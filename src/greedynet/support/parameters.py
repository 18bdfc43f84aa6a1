"""The table of parameters: name, type, meaning, and how each is spelled on the command line.

From it come the parameters in the docstrings of the estimators and what scikit-learn checks of
them, the options of `greedynet fit`, the translation of errors to these options, and the list in
`docs/parameters.md`. It imports nothing, so that `--help` loads no numerical library.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Whole:
    """Integers from `low` on, or up to `high`."""

    low: int
    high: int | None = None


@dataclass(frozen=True)
class Number:
    """Numbers from `low` on, itself included or not."""

    low: float
    is_open: bool = False


@dataclass(frozen=True)
class Names:
    """Some words."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """An option of `greedynet fit`."""

    flag: str  # its name, such as "--nodes"
    help: str
    metavar: str | None = None  # stands for its value; None for a flag, or for `Names`
    # What it takes: "text", "int", "float", "file", "flag", or "end", one of two numbers that make
    # the value.
    values: Whole | Number | Names | str = "text"
    reader: str = ""  # the function of `cli.options` that reads its text
    is_repeatable: bool = False
    means: int | None = None  # the number that it gives to a column, for shapes

    @property
    def variable(self) -> str:
        """The name of its value in the command."""
        return self.flag.removeprefix("--").replace("-", "_")


BOTH, NUMBERS, CLASSES = ("regressor", "classifier"), ("regressor",), ("classifier",)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the estimators."""

    name: str
    type: str  # as in a docstring, without the default
    meaning: str  # as in a docstring
    # What it may be: `Whole`, `Number`, `Names`, a type, None, or a word that scikit-learn's checks
    # know, such as "boolean". Empty for anything, which is checked later.
    allowed: tuple[Any, ...] = ()
    of: tuple[str, ...] = BOTH
    options: tuple[Option, ...] = ()  # its spelling on the command line, if it has one


# In the order in which a user needs them, which is that of the constructors.
PARAMETERS = (
    Parameter(
        "n_nodes",
        "int or None",
        "Exact number of nodes (neurons plus two for the affine term); None to choose it.",
        (Whole(1), None),
        options=(
            Option(
                "--nodes",
                "Exact number of nodes. Nodes are the neurons, which are the hidden units, plus "
                "two for the affine term.",
                "N",
                Whole(1),
            ),
        ),
    ),
    Parameter(
        "max_nodes",
        "int or None",
        "Maximum number of nodes (neurons plus two for the affine term); None for 200, and for "
        "100 where classes are predicted. Decrease it to save time or space; increase it if "
        "`stop_reason_` says that the limit was reached.",
        (Whole(1), None),
        options=(Option("--max-nodes", "Maximum number of nodes.", "N", Whole(1)),),
    ),
    Parameter(
        "select",
        '{"best", "1se", "last"} or float',
        "Which network is kept: the one with the smallest error on held-out rows (for classes the "
        "log-loss), or a smaller one that ties with it; the smallest within a standard error of "
        "the best; the last one, with all nodes up to `max_nodes` or `tol`; or, for a share such "
        "as 0.05, the smallest whose error is within 5 % of the best.",
        (Names(("best", "1se", "last")), Number(0)),
        options=(
            Option(
                "--select",
                "Which network is kept: the best on held-out rows (default), the smallest within "
                "one standard error of it, the last one, or the smallest whose error is within a "
                "share of the best one's, such as 0.05.",
                "best|1se|last|SHARE",
                reader="number",
            ),
        ),
    ),
    Parameter(
        "cv",
        "int, splitter, iterable or None",
        "Folds by which to choose: their number, a scikit-learn splitter, or pairs of training and "
        "test positions. None for folds that suit the number of rows; of classes, stratified "
        "ones. For rows that belong together, pass `groups` to `fit`.",
        (Whole(2), "splitter", "iterable", None),
        options=(
            Option(
                "--cv",
                "Choose the width by so many folds, instead of the default number.",
                "N",
                Whole(2),
            ),
        ),
    ),
    Parameter(
        "loss",
        "str, float or Loss",
        'The loss to minimise: "squared_error", "absolute_error", "huber" (quadratic for small '
        "errors, linear for large ones), `greedynet.losses.Quantile(0.9)` (the pinball loss; "
        '"quantile" is the median), "chebyshev" (the largest error), or the l_p norm for a number '
        "p above 1. It determines the choice of neurons, their outer weights, and the width.",
        of=NUMBERS,
        options=(
            Option(
                "--loss",
                "squared_error (default), absolute_error, huber, quantile (the median) or a "
                "quantile such as quantile=0.9, chebyshev, or a power above 1.",
                "NAME|P",
                reader="loss",
            ),
        ),
    ),
    Parameter(
        "class_weight",
        'dict, "balanced" or None',
        'Weights of the classes. "balanced" gives every class the same total weight.',
        (dict, Names(("balanced",)), None),
        of=CLASSES,
        options=(
            Option(
                "--class-weight",
                "Weights of the classes: balanced, for classes that count the same whatever their "
                "number of rows, or a number for a class, such as yes=3; repeatable.",
                "balanced|CLASS=NUMBER",
                reader="class_weight",
                is_repeatable=True,
            ),
        ),
    ),
    Parameter(
        "missing",
        '{"error", "learn"}',
        "How to treat missing inputs, NaN: as an error, or by learning what to insert. A column "
        "whose gaps say something about `y` becomes two inputs of the network, its value, or the "
        "mean where it is missing, and an indicator of the gap, which gives every neuron a filling "
        "value of its own (`greedynet.rows.missing` has the proof, and the test), if held-out rows "
        "are predicted better with indicators than without. In other columns the mean is inserted, "
        "with a warning if there was no NaN in `fit`; one without any value is ignored.",
        (Names(("error", "learn")),),
    ),
    Parameter(
        "monotonic_cst",
        "array-like of shape (n_features,), dict of str to int, or None",
        "Shape of predictions along each column, all others being equal: 1 for increasing, -1 for "
        "decreasing, 0 for any; of two classes, that of the log-odds of the second one. A dict "
        "names columns of a data frame. It holds for all rows, not only near the data: the weights "
        'prove it. Needs an activation with slopes between 0 and 1, as "relu" and "tanh" have, '
        "squared errors and one output. See *Shapes* in the documentation.",
        ("array-like", dict, None),
        options=(
            Option(
                "--increasing",
                "Predictions never fall when this column rises and the others stay, anywhere; for "
                "two classes, the log-odds of the second one. Repeatable.",
                "COLUMN",
                is_repeatable=True,
                means=1,
            ),
            Option(
                "--decreasing",
                "Predictions never rise when this column rises; repeatable.",
                "COLUMN",
                is_repeatable=True,
                means=-1,
            ),
        ),
    ),
    Parameter(
        "convex",
        "array-like of shape (n_features,), dict of str to int, or None",
        'Likewise: 1 for convex, -1 for concave, 0 for any; with "relu" or "softplus", and one '
        "hidden layer.",
        ("array-like", dict, None),
        options=(
            Option(
                "--convex",
                "Predictions are convex in this column; repeatable.",
                "COLUMN",
                is_repeatable=True,
                means=1,
            ),
            Option(
                "--concave",
                "Predictions are concave in this column; repeatable.",
                "COLUMN",
                is_repeatable=True,
                means=-1,
            ),
        ),
    ),
    Parameter(
        "bounds",
        '(low, high), "seen" or None',
        "What predictions may not leave, anywhere, in the units of `y`; None for an open end, as "
        "in `(0, None)`. The network predicts `min(max(g(x), low), high)`, and candidates are "
        "compared with their predictions within the bounds; intervals end there. Outputs outside "
        'them are an error. One pair holds for all outputs. "seen" stands for the smallest and the '
        "largest value of each output in the training rows. See *Shapes* in the documentation.",
        ("array-like", Names(("seen",)), None),
        of=NUMBERS,
        options=(
            Option(
                "--at-least",
                "For a target of numbers: no prediction is smaller than this, anywhere.",
                "LOW",
                "end",
            ),
            Option(
                "--at-most",
                "For a target of numbers: no prediction is larger than this, anywhere.",
                "HIGH",
                "end",
            ),
            Option(
                "--bounds",
                "For a target of numbers: no prediction is smaller or larger than all values seen.",
                values=Names(("seen",)),
            ),
        ),
    ),
    Parameter(
        "extrapolate",
        "bool",
        "Whether predictions, or log-odds, go on as straight lines beyond the training rows. By "
        "default every input is clipped to the box of the training rows, from the smallest to the "
        "largest value of its column, before the first layer: one cell that is mistyped cannot "
        "make a prediction absurd. Where held-out rows are clearly better predicted that way, the "
        "box is widened by its own width on both sides. With `convex`, inputs are never clipped: a "
        "convex function would not be convex at the edge.",
        ("boolean",),
        options=(
            Option(
                "--extrapolate",
                "Continue in straight lines beyond the training rows. By default, a value outside "
                "their range counts as the nearest one in it.",
                values="flag",
            ),
        ),
    ),
    Parameter(
        "hidden_layers",
        '{1, 2, "auto"} or None',
        "Number of hidden layers. With two, the first one consists of hinges along single columns, "
        "each of which counts as a node, and neurons are over the columns and their hinges. "
        '"auto" builds both, and keeps two layers where they are clearly better on held-out rows. '
        'None for one, or "auto" with `monotonic_cst`, where two are more flexible.',
        (Whole(1, 2), Names(("auto",)), None),
        options=(
            Option(
                "--hidden-layers",
                "One hidden layer, two, of which the first bends single columns, or auto, two "
                "where they are clearly better on held-out rows; one by default, and auto with "
                "--increasing.",
                values=Names(("1", "2", "auto")),
                reader="layers",
            ),
        ),
    ),
    Parameter(
        "n_networks",
        'int or "auto"',
        "Number of networks that are grown apart and averaged into one, which share the nodes; at "
        'most 10, for squared errors. "auto" compares one network with four on held-out rows, or '
        "with two where nodes are few. One column always has one network.",
        (Whole(1, 10), Names(("auto",))),
        of=NUMBERS,
    ),
    Parameter(
        "activation",
        "str or Activation",
        'Activation of the neurons: "relu", "relu2", "relu3", "leaky_relu", "abs", "tanh", '
        '"sigmoid", "gelu", "softplus", "sin", "gaussian", or a user-defined object with `name`, '
        "`value(z)`, `slope(z)` and either `degree` (positively homogeneous) or `scales` (inner "
        "weights to try).",
        options=(
            Option(
                "--activation",
                "relu (default), relu2, relu3, leaky_relu, abs, tanh, sigmoid, gelu, softplus, sin "
                "or gaussian.",
                "NAME",
            ),
        ),
    ),
    Parameter(
        "alpha",
        'float or "auto"',
        "Ridge on the outer weights of the normalised neurons; 0 is least squares. For classes, "
        "`alpha / 2` times the sum of all squared weights, for scaled inputs, is added to the mean "
        'log-loss. "auto" chooses it from the data if the network is corrected, and otherwise is 0 '
        "for numbers.",
        (Number(0), Names(("auto",))),
    ),
    Parameter(
        "max_seconds",
        "float or None",
        "About how long the fit may take. Where this is not enough, wider networks are left out "
        "and corrections end early; the best network so far is kept, and `stop_reason_` says so. "
        "The result then depends on the machine; a fit that ends in time is the same as without a "
        "limit. Not with a checkpoint.",
        (Number(0, is_open=True), None),
        options=(
            Option(
                "--max-seconds",
                "About how long the fit may take; then the best network so far is kept.",
                "S",
                Number(0, is_open=True),
            ),
        ),
    ),
    Parameter(
        "tol",
        "float",
        "Stop when the relative residual on the training data falls below this value.",
        (Number(0),),
        of=NUMBERS,
        options=(
            Option(
                "--tol",
                "Relative training error at which to stop, for a target of numbers; 1e-08 by "
                "default.",
                "T",
                Number(0),
            ),
        ),
    ),
    Parameter(
        "search",
        '{"continuous", "dictionary"}, Dictionary or SearchFactory',
        'How neurons are searched. "continuous" evaluates every threshold along many directions '
        "and refines the best neurons locally. `greedynet.search.Dictionary` is the paper's "
        'dictionary of sampled points; "dictionary" is the one with default parameters. Its '
        "networks of numbers are kept as grown. Or an object of your own with "
        "`begin(X, row_scale, activation, seed)`; see `greedynet.search`.",
        ("search",),
    ),
    Parameter(
        "correct",
        "bool",
        "Whether to correct all neurons jointly after every width, and to try averages; for "
        "classes, all weights, with a ridge from cross-validation. With False, or a user-defined "
        "loss without `row_weights`, networks are kept as grown; for classes, without folds or a "
        "validation set, at the width that Akaike's criterion chooses.",
        ("boolean",),
    ),
    Parameter(
        "random_state",
        "int, RandomState or None",
        "Seed of directions, sampled points and held-out rows. By default, every fit is "
        "reproducible.",
        ("random_state",),
        options=(Option("--seed", "Random seed; 0 by default.", "N", "int"),),
    ),
    Parameter(
        "n_jobs",
        "int or None",
        "Number of threads; None or -1 for all cores. The result does not depend on it.",
        ("int", None),
    ),
)

# Parameters of `fit_table` itself.
OF_TABLES = (
    Option(
        "--validate",
        "Rows by which the width is chosen; by default it is chosen from DATA alone.",
        "FILE",
        "file",
    ),
    Option(
        "--hold-out",
        "Share of the rows to set aside, such as 0.2: they take no part in the fit, show how "
        "good it is, and are the rows of the report.",
        "SHARE",
        "float",
    ),
    Option(
        "--hold-out-last",
        "Set aside the last rows, for rows in order of time.",
        "SHARE",
        "float",
    ),
    Option(
        "--groups",
        "Keep rows of a group, such as a patient, together: in the folds that choose the width, "
        "and in --hold-out; it is not used as an input.",
        "COLUMN",
    ),
    Option(
        "--time",
        "Numbers or dates: folds go forward, each predicted from earlier rows alone, and "
        "--hold-out sets aside the latest rows. It is an input too, unless ignored.",
        "COLUMN",
    ),
    Option(
        "--weights",
        "Weights of the rows, in the fit and in the errors it reports; not used as an input.",
        "COLUMN",
    ),
)


def parameters_of(estimator: str) -> tuple[Parameter, ...]:
    return tuple(p for p in PARAMETERS if estimator in p.of)


def spelled() -> dict[str, str]:
    """Return the options of every parameter that has some, by its name: "--nodes"."""
    of_tables = {option.variable: option.flag for option in OF_TABLES}
    found = {p.name: [option.flag for option in p.options] for p in PARAMETERS if p.options}
    joined = {name: " or ".join(flags[:2]) for name, flags in found.items()}
    return of_tables | joined | {"bounds": " and ".join(found["bounds"][:2])}
