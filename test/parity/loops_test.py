"""Loops against TensorFlow: tf.scan with its gradients of first and second order, and tf.while_loop."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()

random = np.random.RandomState(7)
NAMES = ["h", "memory", "y"] + [f"{order} gradient of {of}" for order in ("first", "second")
                                for of in ("x", "h", "weight 0", "weight 1")]


def scan(x, h, weights, reverse):
    """What parity_loops computes, in its order."""
    def step(carry, x):
        h = tf.tanh(x + tf.matmul(carry[0], weights[0]))
        memory = carry[1] * tf.sigmoid(tf.matmul(h, weights[1])) + h
        return h, memory, h * memory

    sources = [x, h, *weights]
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as inner:
            inner.watch(sources)
            hs, memories, ys = tf.scan(step, x, (h, tf.ones_like(h), tf.zeros_like(h)), reverse=reverse)
            end = 0 if reverse else -1
            loss = tf.reduce_sum(ys ** 2) + tf.reduce_sum(hs[end] * memories[end])
        first = inner.gradient(loss, sources)
        squares = tf.add_n([tf.reduce_sum(g ** 2) for g in first])
    return [hs[end], memories[end], ys, *first, *outer.gradient(squares, sources)]


def shrink(x, limit):
    return tf.while_loop(lambda x, n: tf.reduce_max(x) > limit, lambda x, n: (x - 0.25 * tf.sin(x), n + 1),
                         (x, tf.constant(0)))


def main():
    report = muster.Report()
    cases, expected = [], []
    for dtype in ("float32", "float64"):
        for steps, rows, units in ((1, 1, 1), (4, 2, 3), (7, 3, 5)):
            for reverse in (False, True):
                x, h = (random.normal(0, 1, shape).astype(dtype) for shape in ((steps, rows, units), (rows, units)))
                weights = [random.normal(0, 0.5, (units, units)).astype(dtype) for _ in range(2)]
                cases.append({"kind": "scan", "x": x, "h": h, "weights": weights, "reverse": reverse})
                expected.append(scan(*map(tf.constant, (x, h)), [tf.constant(w) for w in weights], reverse))
        for limit in (2.5, 0.5, 0.01):
            x, limit = random.uniform(0, 2, 5).astype(dtype), np.array(limit, dtype)
            cases.append({"kind": "while", "x": x, "limit": limit})
            expected.append(shrink(tf.constant(x), tf.constant(limit)))
    for case, answer, wanted in zip(cases, muster.evaluate(cases, "loops"), expected):
        tolerance = 1e-3 if case["x"].dtype == np.float32 else 1e-10
        for name, got, value in zip(NAMES, answer["values"], wanted):
            report.values(f"{case['kind']} {case['x'].dtype} {case['x'].shape}: {name}", got, value, tolerance, 0.1)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
