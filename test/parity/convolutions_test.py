"""Convolutions and pooling over two and three axes, normalization and resizing against TensorFlow: values and gradients, over strides, dilations,
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


def volumes(rng, dtype):
    """Convolutions over three axes. TensorFlow's have no dilations on CPUs."""
    groups, same = int(rng.choice([1, 1, 2])), bool(rng.integers(2))
    channels, filters = groups * int(rng.integers(1, 4)), groups * int(rng.integers(1, 4))
    window, strides = [int(x) for x in rng.integers(1, 4, 3)], [int(x) for x in rng.integers(1, 3, 3)]
    src = rng.normal(size=(2, *[k + int(rng.integers(0, 3)) for k in window], channels)).astype(dtype)
    weights = rng.normal(size=(*window, channels // groups, filters)).astype(dtype)
    options = {"strides": strides, "groups": groups, "padding": "same" if same else "valid"}

    def function(x, w):
        pairs = zip(tf.split(x, groups, 4), tf.split(w, groups, 4))
        return tf.concat([tf.nn.conv3d(a, b, [1, *strides, 1], "SAME" if same else "VALID") for a, b in pairs], 4)

    return "conv3d", options, function, [src, weights]


def volumes_transposed(rng, dtype):
    same, sizes = bool(rng.integers(2)), [int(x) for x in rng.integers(1, 4, 6)]
    window, strides = [int(x) for x in rng.integers(1, 4, 3)], [int(x) for x in rng.integers(1, 3, 3)]
    src = rng.normal(size=sizes[:5]).astype(dtype)
    weights = rng.normal(size=(*window, sizes[5], sizes[4])).astype(dtype)
    options = {"strides": strides, "padding": "same" if same else "valid"}
    return "conv3d_transpose", options, lambda x, w: keras.ops.conv_transpose(
        x, w, strides, options["padding"], None, "channels_last"), [src, weights]


def volumes_pooled(rng, dtype):
    size, strides = [int(x) for x in rng.integers(1, 4, 3)], [int(x) for x in rng.integers(1, 4, 3)]
    src = rng.normal(size=(2, *[k + int(rng.integers(0, 4)) for k in size], int(rng.integers(1, 5)))).astype(dtype)
    padding = ("SAME", "VALID")[int(rng.integers(2))]
    options = {"size": size, "strides": strides, "padding": padding.lower()}
    kind, pool = (("max_pool3d", tf.nn.max_pool3d), ("avg_pool3d", tf.nn.avg_pool3d))[int(rng.integers(2))]

    def function(x):  # TensorFlow has it in f32 only
        used = [(-(-n // s) - 1) * s + k if padding == "SAME" else n for n, s, k in zip(x.shape[1:4], strides, size)]
        # Where windows do not reach all of it, TensorFlow begins at 0 with oneDNN, and inside with Eigen.
        x = x[:, :used[0], :used[1], :used[2]]
        return tf.cast(pool(tf.cast(x, tf.float32), size, strides, padding), x.dtype)

    return kind, options, function, [src]


def normalization(rng, dtype):
    shape = (int(rng.integers(2, 9)), *pair(rng, 4)[: int(rng.integers(0, 3))], int(rng.integers(1, 9)))
    epsilon = float(rng.choice([1e-3, 0.1]))
    sources = [rng.normal(size=shape), rng.normal(size=shape[-1:]), rng.normal(size=shape[-1:])]

    def function(x, gamma, beta):
        mean, variance = tf.nn.moments(x, list(range(len(shape) - 1)))
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)

    return "batch_norm", {"epsilon": epsilon}, function, [x.astype(dtype) for x in sources]


def transposed(rng, dtype):
    window, strides, same = pair(rng, 3), pair(rng, 3), bool(rng.integers(2))
    n, height, width, channels, filters = (int(x) for x in rng.integers(1, 5, 5))
    src = rng.normal(size=(n, height, width, channels)).astype(dtype)
    weights = rng.normal(size=(*window, filters, channels)).astype(dtype)
    options = {"strides": strides, "padding": "same" if same else "valid"}
    return "conv2d_transpose", options, lambda x, w: keras.ops.conv_transpose(
        x, w, strides, "same" if same else "valid", None, "channels_last"), [src, weights]


def of_layer(rng, dtype):
    """layer_norm over the last axes."""
    shape = tuple(int(x) for x in rng.integers(1, 20, int(rng.integers(2, 5))))
    axes, epsilon = int(rng.integers(1, len(shape))), float(rng.choice([1e-3, 0.1]))
    sources = [rng.normal(size=shape), rng.normal(size=shape[-axes:]), rng.normal(size=shape[-axes:])]

    def function(x, gamma, beta):
        mean, variance = tf.nn.moments(x, list(range(-axes, 0)), keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)

    return "layer_norm", {"epsilon": epsilon}, function, [x.astype(dtype) for x in sources]


def of_groups(rng, dtype):
    groups, of_group = (int(x) for x in rng.integers(1, 6, 2))
    between, n = pair(rng, 5)[: int(rng.integers(0, 3))], int(rng.integers(1, 20))
    channels, rows = groups * of_group, int(np.prod(between))
    sources = [rng.normal(size=(n, *between, channels)), rng.normal(size=channels), rng.normal(size=channels)]

    def function(x, gamma, beta):
        seen = tf.reshape(x, (n, rows, groups, of_group))
        mean, variance = tf.nn.moments(seen, [1, 3], keepdims=True)
        seen = tf.nn.batch_normalization(seen, mean, variance, tf.reshape(beta, (groups, of_group)),
                                         tf.reshape(gamma, (groups, of_group)), 1e-3)
        return tf.reshape(seen, x.shape)

    return "group_norm", {"groups": groups}, function, [x.astype(dtype) for x in sources]


def resized(rng, dtype):
    """tf.image.resize computes in f32."""
    size, to, corners = pair(rng, 9), pair(rng, 9), bool(rng.integers(2))
    method = ("nearest", "bilinear")[int(rng.integers(2))]
    src = rng.normal(size=(2, *size, 3)).astype(dtype)
    resize = tf.compat.v1.image.resize if corners else tf.image.resize
    more = {"align_corners": True} if corners else {}
    options = {"size": to, "interpolation": method, "align_corners": corners}
    return "resize2d", options, lambda x: tf.cast(resize(tf.cast(x, tf.float32), to, method, **more), x.dtype), [src]


def area_resized(rng, dtype):
    """By TensorFlow's weights of rows and columns, which an identity matrix shows: it has no gradient of its own."""
    size, to = pair(rng, 9), pair(rng, 9)
    corners = min(size) > 1 and bool(rng.integers(2))  # of one pixel TensorFlow makes 0 / 0
    rows, columns = (tf.raw_ops.ResizeArea(images=tf.eye(n)[None, :, :, None], size=[m, n], align_corners=corners)
                     for n, m in zip(size, to))
    options = {"size": to, "interpolation": "area", "align_corners": corners}
    return "resize2d", options, lambda x: tf.einsum(
        "yh,nhwc,xw->nyxc", tf.cast(rows[0, :, :, 0], x.dtype), x, tf.cast(columns[0, :, :, 0], x.dtype)), [
            rng.normal(size=(2, *size, 3)).astype(dtype)]


def expected_of(function, inputs, rng):
    """Value, a random gradient of it, and what that makes of the gradients of the inputs. In f64: TensorFlow's f32
    convolution is wrong where windows are as wide as the source and the strides of rows and columns differ."""
    sources = [tf.constant(x.astype("float64")) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = function(*sources)
    upstream = rng.normal(size=value.shape).astype(inputs[0].dtype)
    return value.numpy(), upstream, tape.gradient(value, sources, output_gradients=tf.constant(upstream.astype("float64")))


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


def check_bf16(report, rng):
    """Products in bf16 as under Keras' mixed_bfloat16, whose results are bf16 too: 8 bits, and of a value near 0, whose
    products cancel, 2^-7 of their size. On a processor that has no such products they are in f32."""
    with open("/proc/cpuinfo") as file:
        flags = file.read().split()
    product = tf.bfloat16 if "avx512_bf16" in flags or "amx_bf16" in flags else tf.float32
    limit = (2**-7, 8) if product == tf.bfloat16 else (2e-5, 10)
    x, w = rng.normal(size=(20, 64)).astype("float32"), rng.normal(size=(64, 30)).astype("float32")
    pictures = rng.normal(size=(2, 8, 8, 16)).astype("float32")
    weights = rng.normal(size=(3, 3, 16, 24)).astype("float32")
    cases = (("matmul", {}, tf.matmul, [x, w]),
             ("conv2d", {"padding": "same"}, lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"), [pictures, weights]))
    for op, options, function, inputs in cases:
        sources = [tf.constant(a) for a in inputs]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            value = tf.cast(function(*(tf.cast(a, product) for a in sources)), tf.float32)
        upstream = rng.normal(size=value.shape).astype("float32")
        gradients = tape.gradient(value, sources, tf.constant(upstream))
        answer, = muster.evaluate([{"kind": "op", "op": op, "inputs": inputs, "upstream": upstream,
                                    "options": {**options, "precision": "mixed_bfloat16"}}])
        report.values(f"{op} in {product.name}: value", answer["outputs"][0], value.numpy(), *limit)
        for i, gradient in enumerate(gradients):
            report.values(f"{op} in {product.name}: gradient {i}", answer["gradients"][i], gradient.numpy(), *limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    report = muster.Report()
    for dtype, tolerance in (("float32", 2e-5), ("float64", 1e-9)):
        rng = np.random.default_rng(arguments.seed)
        kinds = (convolution, convolution, padded, depthwise, pooling, normalization, transposed, of_layer, of_groups,
                 resized, volumes, volumes_transposed, volumes_pooled,
                 area_resized)
        cases = [kinds[i % len(kinds)](rng, dtype) for i in range(arguments.count * len(kinds))]
        expected = [expected_of(function, inputs, rng) for _, _, function, inputs in cases]
        answers = muster.evaluate({"kind": "op", "op": op, "inputs": inputs, "options": options, "upstream": upstream}
                                  for (op, options, _, inputs), (_, upstream, _) in zip(cases, expected))
        for (op, options, _, inputs), (value, _, gradients), answer in zip(cases, expected, answers):
            limit = 2e-5 if op in ("resize2d", "max_pool3d", "avg_pool3d") else tolerance
            name = f"{op} {options} {dtype} {[x.shape for x in inputs]}"
            report.values(f"{name}: value", answer["outputs"][0], value, limit, 10)
            for i, gradient in enumerate(gradients):
                report.values(f"{name}: gradient {i}", answer["gradients"][i], gradient.numpy(), limit, 10)
    check_layer(report, np.random.default_rng(arguments.seed))
    check_bf16(report, np.random.default_rng(arguments.seed))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
