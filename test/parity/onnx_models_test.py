"""Models that Muster writes as ONNX: onnx's checker takes them, ONNX Runtime gives the same outputs, and so does Muster
when it has read them again. Models of several inputs and outputs, made by Muster and by the package onnx, are predicted
and converted by the command: again ONNX Runtime gives the same."""

import os
import subprocess
import sys
import tempfile

import numpy as np

SKIPPED = 77
try:
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(SKIPPED)

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_onnx")
MODELS = ["mlp", "lenet", "text_cnn", "mobilenet_v2", "resnet50", "others", "volumes", "transposed", "shaped"]
MODELS += ["recurrent", "attention", "mixed", "blocks", "numbers"]
TOLERANCE = 1e-5


def run(path, x):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    value = session.get_inputs()[0]
    y = session.run(None, {value.name: np.moveaxis(x, -1, 1) if x.ndim > 3 else x})[0]
    return np.moveaxis(y, 1, -1) if y.ndim > 3 else y


def channels_last(array):
    return np.moveaxis(array, 1, -1) if array.ndim > 3 else array


def run_all(path, inputs):
    """The outputs by their names; pictures have their channels last, as in Muster."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    fed = {}
    for value in session.get_inputs():
        x = inputs[value.name.replace(":", "_")]
        fed[value.name] = np.moveaxis(x, -1, 1) if x.ndim > 3 else x
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, map(channels_last, session.run(names, fed))))


def make_several(folder):
    """Two inputs, one of a name that no layer can have, and three outputs, one of them a picture; and data for it."""
    random = np.random.RandomState(3)
    tensor = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node
    shapes = {"k": (5, 3, 3, 3), "w1": (9, 3), "b1": (3,), "w2": (9, 1), "b2": (1,)}
    weights = [
        onnx.numpy_helper.from_array((random.randn(*shape) / 2).astype("f4"), name) for name, shape in shapes.items()
    ]
    nodes = [
        node("Conv", ["photo", "k"], ["c"], pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"]),
        node("GlobalAveragePool", ["r"], ["g"]),
        node("Flatten", ["g"], ["f"]),
        node("Concat", ["f", "numbers:0"], ["j"], axis=1),
        node("Gemm", ["j", "w1", "b1"], ["l"]),
        node("Softmax", ["l"], ["kind"], axis=1),
        node("Gemm", ["j", "w2", "b2"], ["price"]),
        node("Sigmoid", ["c"], ["map"]),
    ]
    inputs = [tensor("photo", 1, ["n", 3, 8, 6]), tensor("numbers:0", 1, ["n", 4])]
    outputs = [tensor("kind", 1, ["n", 3]), tensor("price", 1, ["n", 1]), tensor("map", 1, ["n", 5, 8, 6])]
    graph = onnx.helper.make_graph(nodes, "several", inputs, outputs, weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, os.path.join(folder, "several.onnx"))
    data = {"photo": random.randn(7, 8, 6, 3).astype("f4"), "numbers_0": random.randn(7, 4).astype("f4")}
    return data, run_all(os.path.join(folder, "several.onnx"), data)


def make_vit(folder):
    """A vision transformer with the operators that PyTorch's exporter writes for torchvision's: sizes of the batch come
    from Shape, Gather and Concat, the class token is expanded to them, heads are cut by Reshape and Transpose."""
    width, heads, layers, patch, size, classes = 24, 3, 2, 4, 16, 5
    places = (size // patch) ** 2 + 1
    random = np.random.RandomState(4)
    nodes, weights = [], []

    def constant(name, array):
        weights.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(name, *shape):
        return constant(name, (random.randn(*shape) / np.sqrt(shape[0])).astype("f4"))

    def node(op, *sources, outputs=1, **attributes):
        made = [f"{op.lower()}_{len(nodes)}_{i}" for i in range(outputs)]
        nodes.append(onnx.helper.make_node(op, list(sources), made, **attributes))
        return made[0] if outputs == 1 else made

    def ints(name, *numbers):
        return constant(name, np.array(numbers, np.int64))

    def dense(name, x, rows, columns):
        return node("Add", weight(f"{name}.bias", columns), node("MatMul", x, weight(f"{name}.weight", rows, columns)))

    def norm(name, x):
        return node("LayerNormalization", x, constant(f"{name}.weight", np.ones(width, "f4")), weight(f"{name}.bias", width),
                    axis=-1, epsilon=1e-6)

    rows = node("Unsqueeze", node("Gather", node("Shape", "photo"), constant("zero", np.int64(0)), axis=0), ints("axis", 0))
    x = node("Conv", "photo", weight("patches", width, 3, patch, patch), strides=[patch, patch])
    x = node("Reshape", x, node("Concat", rows, ints("flat", width, places - 1), axis=0))
    x = node("Transpose", x, perm=[0, 2, 1])
    token = node("Expand", weight("token", 1, 1, width), node("Concat", rows, ints("once", 1, width), axis=0))
    x = node("Add", node("Concat", token, x, axis=1), weight("places", 1, places, width))
    for i in range(layers):
        whole = dense(f"{i}.qkv", norm(f"{i}.norm_1", x), width, 3 * width)
        cut = node("Reshape", whole, node("Concat", rows, ints(f"{i}.cut", places, 3, heads, width // heads), axis=0))
        turned = node("Transpose", cut, perm=[2, 0, 3, 1, 4])
        q, k, v = (node("Gather", turned, constant(f"{i}.{j}", np.int64(j)), axis=0) for j in range(3))
        products = node("MatMul", q, node("Transpose", k, perm=[0, 1, 3, 2]))
        scaled = node("Mul", products, constant(f"{i}.scale", np.float32((width // heads) ** -0.5)))
        seen = node("Transpose", node("MatMul", node("Softmax", scaled, axis=-1), v), perm=[0, 2, 1, 3])
        joined = node("Reshape", seen, node("Concat", rows, ints(f"{i}.join", places, width), axis=0))
        x = node("Add", x, dense(f"{i}.out", joined, width, width))
        inner = dense(f"{i}.inner", norm(f"{i}.norm_2", x), width, 4 * width)
        erf = node("Erf", node("Div", inner, constant(f"{i}.root", np.float32(np.sqrt(2)))))
        gelu = node("Mul", node("Mul", inner, node("Add", erf, constant(f"{i}.one", np.float32(1)))),
                    constant(f"{i}.half", np.float32(0.5)))
        x = node("Add", x, dense(f"{i}.outer", gelu, 4 * width, width))
    first = node("Gather", norm("norm", x), "zero", axis=1)
    nodes.append(onnx.helper.make_node("Gemm", [first, weight("head.weight", classes, width), weight("head.bias", classes)],
                                       ["kind"], transB=1))
    tensor = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "vit", [tensor("photo", 1, ["n", 3, size, size])],
                                   [tensor("kind", 1, ["n", classes])], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, os.path.join(folder, "vit.onnx"))
    data = {"photo": random.randn(6, size, size, 3).astype("f4")}
    return data, run_all(os.path.join(folder, "vit.onnx"), data)


def command(folder, *arguments):
    done = subprocess.run([os.environ["MUSTER"], *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")


def compare_several(folder, name, data, expected):
    """Predictions of NAME.onnx, and of what it is converted to, both by Muster and by ONNX Runtime."""
    np.savez(os.path.join(folder, "data.npz"), **data)
    command(folder, "convert", f"{name}.onnx", f"{name}-again.onnx", "--overwrite")
    onnx.checker.check_model(onnx.load(os.path.join(folder, f"{name}-again.onnx")), full_check=True)
    found = [run_all(os.path.join(folder, path), data) for path in (f"{name}.onnx", f"{name}-again.onnx")]
    for path in (f"{name}.onnx", f"{name}-again.onnx"):
        command(folder, "predict", "--load", path, "--data", "npz:data.npz", "--out", "out.npz", "--devices", "cpu:1")
        with np.load(os.path.join(folder, "out.npz")) as arrays:
            found.append({key: arrays[key] for key in arrays})
    off = 0
    for outputs in found:
        assert list(outputs) == list(expected), (list(outputs), list(expected))
        for key, y in expected.items():
            assert outputs[key].shape == y.shape, (key, outputs[key].shape, y.shape)
            off = max(off, np.abs(outputs[key] - y).max() / np.abs(y).max())
    good = off < TOLERANCE
    print(f"{name}: {len(data)} inputs, {len(expected)} outputs, off by {off:.1e}{'' if good else ': FAILED'}")
    return not good


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PROGRAM, "models", folder], check=True)
        for name in MODELS:
            path = os.path.join(folder, name + ".onnx")
            model = onnx.load(path)
            onnx.checker.check_model(model, full_check=True)
            with np.load(os.path.join(folder, name + ".npz")) as arrays:
                x, y, again = arrays["x"], arrays["y"], arrays["again"]
            scale = np.abs(y).max()
            off = [np.abs(other - y).max() / scale for other in (run(path, x), again)]
            turns = sum(node.op_type == "Transpose" for node in model.graph.node)
            spread = np.abs(y - y[:1]).max() / scale  # rows differ
            good = max(off) < TOLERANCE and spread > 0.01
            failed += not good
            print(
                f"{name}: {len(model.graph.node)} nodes, {turns} transposed, off by {off[0]:.1e} in ONNX Runtime, "
                f"{off[1]:.1e} read again, rows differ by {spread:.2f}{'' if good else ': FAILED'}"
            )
        with np.load(os.path.join(folder, "pair.npz")) as arrays:
            pair = {key: arrays[key] for key in arrays}
        expected = {key: pair.pop(key) for key in ("kind", "map")}
        failed += compare_several(folder, "pair", pair, expected)
        failed += compare_several(folder, "several", *make_several(folder))
        failed += compare_several(folder, "vit", *make_vit(folder))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
