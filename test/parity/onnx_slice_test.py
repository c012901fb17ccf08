"""Slice of ONNX, with every start, end and step around the ends of an axis, beside ONNX Runtime: of values, and of lists
of sizes that nodes compute. ONNX Runtime takes an end of 2^63 - 1 for the beginning where the step is negative, but the
text of the operator for the end of the axis; such slices are compared with the text alone."""

import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

SKIPPED = 77
try:
    import onnx
    import onnxruntime
    from onnx.helper import make_node, make_tensor_value_info
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(SKIPPED)

MUSTER = os.environ["MUSTER"]
SIZE, MOST, LEAST = 4, 2**63 - 1, -(2**63)
ENDS = [-6, -5, -4, -3, -1, 0, 1, 3, 4, 5, MOST, LEAST]
STEPS = [1, 2, 5, 100, -1, -2, -5, -100]


def slices(folder, cases):
    """A file whose outputs are the slices of x, [rows, SIZE], along axis 1."""
    nodes, outputs, constants = [], [], {"axes": np.array([1])}
    for i, numbers in enumerate(cases):
        for name, number in zip("abc", numbers):
            constants[f"{name}{i}"] = np.array([number])
        nodes.append(make_node("Slice", ["x", f"a{i}", f"b{i}", "axes", f"c{i}"], [f"s{i}"]))
    nodes.append(make_node("Concat", [f"s{i}" for i in range(len(cases))], ["y"], axis=1))
    return save(folder, nodes, constants, ["n", SIZE])


def lists(folder, cases):
    """One whose output is x, [rows, SIZE], padded by slices of the sizes of x."""
    constants = {}
    nodes = [make_node("Shape", ["x"], ["shape"]), make_node("Gather", ["shape", "one"], ["n"], axis=0)]
    constants["one"] = np.array([1])
    nodes.append(make_node("Concat", ["n", "k1", "k2", "k3"], ["sizes"], axis=0))
    for i in range(1, 4):
        constants[f"k{i}"] = np.array([i + 10])
    parts = []
    for i, numbers in enumerate(cases):
        for name, number in zip("abc", numbers):
            constants[f"{name}{i}"] = np.array([number])
        nodes.append(make_node("Slice", ["sizes", f"a{i}", f"b{i}", "axis", f"c{i}"], [f"s{i}"]))
        nodes.append(make_node("Cast", [f"s{i}"], [f"f{i}"], to=onnx.TensorProto.FLOAT))
        nodes.append(make_node("ReduceSum", [f"f{i}"], [f"r{i}"], keepdims=1))
        nodes.append(make_node("Add", ["x", f"r{i}"], [f"p{i}"]))
        parts.append(f"p{i}")
    constants["axis"] = np.array([0])
    nodes.append(make_node("Concat", parts, ["y"], axis=1))
    return save(folder, nodes, constants, ["n", SIZE])


def save(folder, nodes, constants, shape):
    graph = onnx.helper.make_graph(
        nodes,
        "slices",
        [make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", None])],
        [onnx.numpy_helper.from_array(np.asarray(array, np.int64), name) for name, array in constants.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    path = os.path.join(folder, "m.onnx")
    onnx.save(model, path)
    return path


def picked(size, start, end, step):
    """The indices by the text of the operator: from 0 to the size, of a negative step from its last one to before 0."""
    most, least = (size, 0) if step > 0 else (size - 1, -1)
    start, end = (number + size if number < 0 else number for number in (start, end))
    return list(range(min(max(start, 0), most), min(max(end, least), most), step))


def run(path, x):
    """What ONNX Runtime gives; None where it fails, as it does for some slices of nothing."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4  # its guesses of sizes are others
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    try:
        return session.run(None, {"x": x})[0]
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
        return None


def differs(folder, path, wanted_of, cases):
    x = np.arange(2 * SIZE, dtype=np.float32).reshape(2, SIZE) + 1
    alone = any(end == MOST and step < 0 for _, end, step in cases)
    wanted, runtime = wanted_of(x), None if alone else run(path, x)
    if runtime is not None and not np.array_equal(wanted, runtime):
        return f"the formula {wanted.tolist()}, ONNX Runtime {runtime.tolist()}"
    data, out = (os.path.join(folder, name) for name in ("x.npz", "y.npz"))
    np.savez(data, x=x)
    if os.path.exists(out):
        os.remove(out)
    command = [MUSTER, "predict", "--load", path, "--data", f"npz:{data}", "--out", out]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return process.stderr.strip()
    with np.load(out) as arrays:
        got = arrays[arrays.files[0]]
    return None if np.array_equal(got, wanted) else f"{got.tolist()}, must be {wanted.tolist()}"


def main():
    bad, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            cases = [(start, end, step) for end, start in itertools.product(ENDS, ENDS)]
            cases.append((0, MOST, 1))  # the whole, so that something is left
            for i in range(0, len(cases), 8):
                one = cases[i : i + 8] + cases[-1:]
                picks = [picked(SIZE, *numbers) for numbers in one]
                of_values = differs(folder, slices(folder, one), lambda x: np.hstack([x[:, p] for p in picks]), one)
                sums = [np.array([SIZE, 11, 12, 13], np.float32)[p].sum() for p in picks]
                of_lists = differs(folder, lists(folder, one), lambda x: np.hstack([x + sum for sum in sums]), one)
                count += 2 * len(one)
                bad += [f"{one}: {wrong}" for wrong in (of_values, of_lists) if wrong]
    print("\n".join(bad[:20]) or f"ok: {count} slices")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
