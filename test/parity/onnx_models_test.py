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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
