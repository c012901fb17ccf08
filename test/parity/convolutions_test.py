"""Convolutions, pooling and batch normalization against TensorFlow: values and gradients, over strides, dilations,
groups, paddings and shapes drawn at random, in f32 and f64.

    convolutions_test.py [--count N] [--seed N]
"""

import argparse
import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402  (after TensorFlow is set up)


def pair(rng, most):
    return [int(x) for x in rng.integers(1, most + 1, 2)]


def dilated(weights, dilations):
    """With zeros between the rows and columns: TensorFlow has no gradient of a dilated convolution on CPUs."""
    (height, width, channels, filters), (down, right) = weights.shape, dilations
    weights = tf.reshape(weights, (height, 1, width, 1, channels, filters))
    weights = tf.pad(weights, [[0, 0], [0, down - 1], [0, 0], [0, right - 1], [0, 0], [0, 0]])
    weights = tf.reshape(weights, (height * down, width * right, channels, filters))
    return weights[: (height - 1) * down + 1, : (width - 1) * right + 1]


def convolution(rng, dtype):
    groups, n = int(rng.choice([1, 1, 2, 3])), int(rng.integers(1, 4))
    channels, filters = groups * int(rng.integers(1, 5)), groups * int(rng.integers(1, 5))
    window, strides, dilations = pair(rng, 3), pair(rng, 3), pair(rng, 3)
    same = bool(rng.integers(2))
    size = [(k - 1) * d + 1 + int(rng.integers(0, 6)) for k, d in zip(window, dilations)]
    src = rng.normal(size=(n, *size, channels)).astype(dtype)
    weights = rng.normal(size=(*window, channels // groups, filters)).astype(dtype)
    options = {"strides": strides, "dilations": dilations, "groups": groups, "padding": "same" if same else "valid"}

    def function(x, w):
        # a convolution of each group: TensorFlow's own of groups has no gradient on CPUs
        xs, ws = tf.split(x, groups, 3), tf.split(dilated(w, dilations), groups, 3)
        padding = "SAME" if same else "VALID"
        return tf.concat([tf.nn.conv2d(a, b, strides, padding) for a, b in zip(xs, ws)], 3)

    return "conv2d", options, function, [src, weights]


def padded(rng, dtype):
    pads = [int(x) for x in rng.integers(0, 3, 4)]
    src, weights = rng.normal(size=(2, 5, 6, 3)).astype(dtype), rng.normal(size=(3, 2, 3, 4)).astype(dtype)
    explicit = [[0, 0], pads[:2], pads[2:], [0, 0]]
    return ("conv2d", {"pads": pads, "strides": [2, 2]}, lambda x, w: tf.nn.conv2d(x, w, 2, explicit), [src, weights])


def depthwise(rng, dtype):
    """conv2d with a group for each channel, whose filters are side by side."""
    channels, multiplier = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    stride, same = int(rng.integers(1, 3)), bool(rng.integers(2))
    src = rng.normal(size=(2, 6, 7, channels)).astype(dtype)
    weights = rng.normal(size=(3, 3, 1, channels * multiplier)).astype(dtype)

    def function(x, w):
        w = tf.reshape(w, (3, 3, channels, multiplier))
        return tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], "SAME" if same else "VALID")

    options = {"strides": [stride], "groups": channels, "padding": "same" if same else "valid"}
    return "conv2d", options, function, [src, weights]


def pooling(rng, dtype):
    size, strides, same = pair(rng, 3), pair(rng, 3), bool(rng.integers(2))
    src = rng.normal(size=(2, *[k + int(rng.integers(0, 6)) for k in size], int(rng.integers(1, 9)))).astype(dtype)
    padding = "SAME" if same else "VALID"
    options = {"size": size, "strides": strides, "padding": padding.lower()}
    if rng.integers(2):
        return "max_pool2d", options, lambda x: tf.nn.max_pool2d(x, size, strides, padding), [src]
    return "avg_pool2d", options, lambda x: tf.nn.avg_pool2d(x, size, strides, padding), [src]


def normalization(rng, dtype):
    shape = (int(rng.integers(2, 9)), *pair(rng, 4)[: int(rng.integers(0, 3))], int(rng.integers(1, 9)))
    epsilon = float(rng.choice([1e-3, 0.1]))
    sources = [rng.normal(size=shape), rng.normal(size=shape[-1:]), rng.normal(size=shape[-1:])]

    def function(x, gamma, beta):
        mean, variance = tf.nn.moments(x, list(range(len(shape) - 1)))
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)

    return "batch_norm", {"epsilon": epsilon}, function, [x.astype(dtype) for x in sources]


def expected_of(function, inputs, rng):
    """Value, a random gradient of it, and what that makes of the gradients of the inputs."""
    sources = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = function(*sources)
    upstream = rng.normal(size=value.shape).astype(inputs[0].dtype)
    return value.numpy(), upstream, tape.gradient(value, sources, output_gradients=tf.constant(upstream))


def check_layer(report, rng):
    """Keras' own layer of batch normalization: one step of its moving statistics, and what it gives afterwards."""
    x = rng.normal(size=(6, 3, 3, 4)).astype("float32")
    layer = keras.layers.BatchNormalization(momentum=0.9)
    trained = np.asarray(layer(x, training=True))
    answer, = muster.evaluate([{"kind": "op", "op": "batch_norm", "options": {},
                                "inputs": [x, np.ones(4, "float32"), np.zeros(4, "float32")]}])
    report.values("layer while training", answer["outputs"][0], trained, 2e-5, 1)
    for i, (moving, initial) in enumerate(((layer.moving_mean, 0.0), (layer.moving_variance, 1.0))):
        moved = [initial * 0.9 + float(value) * 0.1 for value in answer["outputs"][1 + i]]
        report.values(f"moving statistic {i}", moved, np.asarray(moving), 2e-5, 1e-2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    report = muster.Report()
    for dtype, tolerance in (("float32", 2e-5), ("float64", 1e-9)):
        rng = np.random.default_rng(arguments.seed)
        kinds = (convolution, convolution, padded, depthwise, pooling, normalization)
        cases = [kinds[i % len(kinds)](rng, dtype) for i in range(arguments.count * len(kinds))]
        expected = [expected_of(function, inputs, rng) for _, _, function, inputs in cases]
        answers = muster.evaluate({"kind": "op", "op": op, "inputs": inputs, "options": options, "upstream": upstream}
                                  for (op, options, _, inputs), (_, upstream, _) in zip(cases, expected))
        for (op, options, _, inputs), (value, _, gradients), answer in zip(cases, expected, answers):
            name = f"{op} {options} {dtype} {[x.shape for x in inputs]}"
            report.values(f"{name}: value", answer["outputs"][0], value, tolerance, 10)
            for i, gradient in enumerate(gradients):
                report.values(f"{name}: gradient {i}", answer["gradients"][i], gradient.numpy(), tolerance, 10)
    check_layer(report, np.random.default_rng(arguments.seed))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
