"""Ops against TensorFlow at the points where definitions differ: values and gradients at 0 and -0, kinks, ties, limits,
infinities and NaN, in f32 and f64."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()

NAN, INF = np.nan, np.inf
POINTS = np.array([0, -0.0, 0.5, -0.5, 1, -1, 2, -2, 6, -6, 3, 7, 90, -90, 1e30, -1e30, 1e-30, INF, -INF, NAN])
ROWS = np.array([[1, 2, 2, 1], [0, 0, 0, 0], [NAN, 1, 2, 3], [INF, INF, 1, 2], [-INF] * 4, [1, 0, 2, 3], [1, 0, 0, 3],
                 [INF, 0, 1, 1], [3, 4, 0, 0], [1, NAN, 3, 2], [NAN] * 4, [NAN, -INF, INF, 0], [INF, NAN, INF, -INF]])
TIED = np.array([[1, 2, 2, 1], [0, -0.0, 0, 0], [INF, INF, 1, INF], [-INF] * 4, [3, 1, 3, 3]])

UNARY = {
    "abs": tf.abs, "acos": tf.acos, "asin": tf.asin, "atan": tf.atan, "ceil": tf.math.ceil, "cos": tf.cos,
    "cosh": tf.cosh, "elu": tf.nn.elu, "erf": tf.math.erf, "exp": tf.exp, "expm1": tf.math.expm1, "floor": tf.floor,
    "gelu": lambda x: tf.nn.gelu(x, approximate=False), "is_finite": tf.math.is_finite, "is_inf": tf.math.is_inf,
    "is_nan": tf.math.is_nan, "log": tf.math.log, "log1p": tf.math.log1p, "neg": tf.negative,
    "reciprocal": tf.math.reciprocal, "relu": tf.nn.relu, "relu6": tf.nn.relu6, "round": tf.round,
    "rsqrt": tf.math.rsqrt, "sigmoid": tf.sigmoid, "sign": tf.sign, "sin": tf.sin, "sinh": tf.sinh,
    "softplus": tf.nn.softplus, "sqrt": tf.sqrt, "square": tf.square, "swish": tf.nn.silu, "tan": tf.tan,
    "tanh": tf.tanh,
}
BINARY = {
    "add": tf.add, "atan2": tf.atan2, "div": tf.divide, "equal": tf.equal, "floor_div": tf.math.floordiv,
    "greater": tf.greater, "greater_equal": tf.greater_equal, "less": tf.less, "less_equal": tf.less_equal,
    "maximum": tf.maximum, "minimum": tf.minimum, "mod": tf.math.floormod, "mul": tf.multiply,
    "not_equal": tf.not_equal, "pow": tf.pow, "squared_difference": tf.math.squared_difference, "sub": tf.subtract,
}
REDUCTIONS = {"reduce_max": tf.reduce_max, "reduce_mean": tf.reduce_mean, "reduce_min": tf.reduce_min,
              "reduce_prod": tf.reduce_prod, "reduce_sum": tf.reduce_sum}

# Where Muster means to differ: the gradient of pow at 0^0 is NaN in TensorFlow, and that of elu at NaN is 1. In f64 its
# erf is NaN at infinities, and its gelu has constants of f32.
NOT_FOR_F64 = {"erf", "gelu"}


def cases(dtype):
    """(op, options, TensorFlow's function, inputs)"""
    points = POINTS.astype(dtype)
    for op, function in UNARY.items():
        if dtype == "float32" or op not in NOT_FOR_F64:
            yield op, {}, function, [points[:-1] if op == "elu" else points]
    yield "leaky_relu", {"slope": 0.25}, lambda x: tf.nn.leaky_relu(x, 0.25), [points]
    x, y = (side.ravel() for side in np.meshgrid(points, points))
    for op, function in BINARY.items():
        chosen = ~((x == 0) & (y == 0)) if op == "pow" else slice(None)
        yield op, {}, function, [x[chosen], y[chosen]]
    for low, high in ((-1.0, 6.0), (0.0, 0.0), (-INF, 1.0), (0.0, INF)):
        yield ("clip", {"low": low, "high": high},
               lambda x, low=low, high=high: tf.clip_by_value(x, tf.cast(low, x.dtype), tf.cast(high, x.dtype)),
               [points])
    rows = ROWS.astype(dtype)
    for op, function in REDUCTIONS.items():
        yield op, {"axes": [1]}, lambda x, f=function: f(x, axis=1), [rows]
        yield op, {"axes": [0]}, lambda x, f=function: f(x, axis=0), [rows[:2]]
        yield op, {"axes": [1]}, lambda x, f=function: f(x, axis=1), [np.zeros((3, 0), dtype)]
    for op, function in (("argmax", tf.argmax), ("argmin", tf.argmin)):
        yield op, {"axis": 1}, lambda x, f=function: f(x, axis=1), [rows]
        yield op, {"axis": 0}, lambda x, f=function: f(x, axis=0), [np.ascontiguousarray(rows.T)]
    for op, function in (("softmax", tf.nn.softmax), ("log_softmax", tf.nn.log_softmax)):
        yield op, {}, function, [rows[[0, 1, 5, 6, 8]]]
    for k in (1, 2, 4):
        yield "top_k", {"k": k}, lambda x, k=k: tf.math.top_k(x, k).values, [TIED.astype(dtype)]
        yield "top_k", {"k": k, "output": 1}, lambda x, k=k: tf.math.top_k(x, k).indices, [TIED.astype(dtype)]
    for direction in ("ASCENDING", "DESCENDING"):
        options = {"descending": direction == "DESCENDING"}
        for inputs in (TIED.astype(dtype), np.random.default_rng(1).normal(size=(2, 300)).astype(dtype)):
            yield "sort", options, lambda x, d=direction: tf.sort(x, direction=d), [inputs]
            yield ("sort", {**options, "output": 1},
                   lambda x, d=direction: tf.argsort(x, direction=d, stable=True), [inputs])
    for row in rows:
        yield "l2_loss", {}, tf.nn.l2_loss, [row]
        yield "global_norm", {}, lambda *x: tf.linalg.global_norm(x), [row, row[:2]]
    labels = [np.broadcast_to(np.asarray(label, dtype), points.shape) for label in (0, 1, 0.25)]
    for label in labels:
        yield ("sigmoid_cross_entropy", {},
               lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x), [points, label])


def expected_of(function, inputs):
    """Value, and the gradient of its sum with respect to each input, None where there is none."""
    sources = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = function(*sources)
    gradients = tape.gradient(value, sources) if value.dtype.is_floating else []
    return value.numpy(), gradients


# Equations, and the shapes of their sources.
EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk", (3, 4), (4, 5)), ("ba", (2, 3)), ("ij,jk->ki", (3, 4), (4, 5)),
    ("ii", (4, 4)), ("ii->i", (4, 4)), ("iij->ji", (3, 3, 2)), ("iji,kj->k", (3, 2, 3), (4, 2)), ("iii->i", (3, 3, 3)),
    ("i,j->ij", (3,), (4,)), ("i,i->", (5,), (5,)), ("ij->", (2, 3)), ("ij,ij->ij", (2, 3), (2, 3)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)), ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)), ("abc,cde->abde", (2, 3, 4), (4, 5, 6)),
    ("abcd,bde->eca", (2, 3, 4, 5), (3, 5, 6)), ("...ij,jk->...ik", (2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 6)), ("...i,...i", (2, 3, 4), (3, 4)), ("i...->...i", (2, 3, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("i,ij,j->", (3,), (3, 4), (4,)), ("ij,kl->jl", (2, 3), (4, 5)),
    ("aB,Bc", (2, 3), (3, 2)), ("i j , j k -> i k", (3, 4), (4, 5)), ("bij,bjk,bk->bi", (2, 3, 4), (2, 4, 5), (2, 5)),
]


# What TensorFlow refuses to guess.
IN_FULL = {"...i,...i": "...i,...i->..."}


def check_einsums(report):
    rng = np.random.default_rng(1)
    for dtype, tolerance in (("float32", 2e-5), ("float64", 1e-12)):
        asked = []
        for equation, *shapes in EINSUMS:
            sources = [tf.constant(rng.normal(size=shape).astype(dtype)) for shape in shapes]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                value = tf.einsum(IN_FULL.get(equation, equation.replace(" ", "")), *sources)
            upstream = rng.normal(size=value.shape).astype(dtype)
            asked.append((equation, sources, upstream, value, tape.gradient(value, sources, tf.constant(upstream))))
        answers = muster.evaluate({"kind": "op", "op": "einsum", "equation": equation, "upstream": upstream,
                                   "inputs": [x.numpy() for x in sources]}
                                  for equation, sources, upstream, _, _ in asked)
        for (equation, sources, _, value, gradients), answer in zip(asked, answers):
            report.values(f"einsum {equation} {dtype}", answer["outputs"][0], value.numpy(), tolerance, 10)
            for i, gradient in enumerate(gradients):
                report.values(f"einsum {equation} {dtype}: gradient {i}", answer["gradients"][i], gradient.numpy(),
                              tolerance, 10)


def main():
    report = muster.Report()
    check_einsums(report)
    for dtype, tolerance in (("float32", 2e-5), ("float64", 1e-9)):
        all_cases = list(cases(dtype))
        answers = muster.evaluate(
            {"kind": "op", "op": op, "inputs": inputs, "options": {k: v for k, v in options.items() if k != "output"}}
            for op, options, _, inputs in all_cases)
        for (op, options, function, inputs), answer in zip(all_cases, answers):
            value, gradients = expected_of(function, inputs)
            name = f"{op} {options} {dtype} {[x.tolist() for x in inputs]}"
            # TensorFlow's f32 functions are approximations, and what is below the normal numbers is 0 there.
            report.values(f"{name}: value", answer["outputs"][options.get("output", 0)], value, tolerance, 1e-30)
            for i, gradient in enumerate(gradients):
                got = answer["gradients"][i] if i < len(answer["gradients"]) else None
                if options.get("output", 0) == 0 and (gradient is not None or got is not None):
                    flat = np.zeros(inputs[i].size) if gradient is None else gradient.numpy()
                    # An op that lets no gradient through has none here, and may have zeros there.
                    got = [0] * inputs[i].size if got is None else got
                    report.values(f"{name}: gradient {i}", got, flat, tolerance, 1e-2)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
