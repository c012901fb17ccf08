"""Pictures of ONNX with the channels second and last: the command takes and gives them with channels last, whatever the
file has, and ONNX Runtime gives the same with the axes turned round as each case says."""

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
TOLERANCE = 1e-5
FIRST, LAST = "first", "last"  # where a picture of the file has its channels
FLAT = "flat"  # it is none
RANDOM = np.random.RandomState(4)
TO_FIRST, TO_LAST = [0, 3, 1, 2], [0, 2, 3, 1]
SQUARE = ["n", 3, 3, 3]


def floats(*shape):
    return (RANDOM.randn(*shape) / 2).astype("f4")


def case(name, shape, order, output_shape, output_order, nodes, constants, producer="a program"):
    """NODES: tuples of operator, inputs, output, and attributes in a dict; a picture x becomes y."""
    made = [make_node(op, inputs.split(), [output], **attributes) for op, inputs, output, attributes in nodes]
    initializers = [onnx.numpy_helper.from_array(np.asarray(array), key) for key, array in constants.items()]
    graph = onnx.helper.make_graph(
        made,
        name,
        [make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [make_tensor_value_info("y", onnx.TensorProto.FLOAT, output_shape)],
        initializers,
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, producer_name=producer, opset_imports=opset, ir_version=8)
    onnx.checker.check_model(model)
    return name, model, shape, order, output_order


def dense(shape, order, name, producer="a program"):
    """Nothing but Flatten and Gemm."""
    size = int(np.prod(shape[1:]))
    nodes = [("Flatten", "x", "f", {}), ("Gemm", "f w", "y", {})]
    return case(name, shape, order, ["n", 2], FLAT, nodes, {"w": floats(size, 2)}, producer)


def turned(name, between, constants, shape=(5, 4, 3), order=LAST):
    """Nodes BETWEEN, from x to a; then a is turned round for a convolution, and back for the output."""
    nodes = between + [("Transpose", "a", "t", {"perm": TO_FIRST}), ("Conv", "t k", "c", {})]
    nodes += [("Transpose", "c", "y", {"perm": TO_LAST})]
    return case(name, ["n", *shape], order, ["n", None, None, 2], LAST, nodes, {"k": floats(2, 3, 2, 2), **constants})


def cases():
    cut = {"from": np.array([1, 1]), "to": np.array([-1, -1]), "axes": np.array([1, 2])}
    pads = {"pads": np.array([0, 1, 1, 0, 0, 1, 1, 0])}
    head = [("GlobalAveragePool", "c", "g", {}), ("Flatten", "g", "y", {})]
    kernel = {"k": floats(2, 3, 2, 2)}
    means = [("ReduceMean", "x", "m", {"axes": [1, 2], "keepdims": 1})]
    seconds = [("ReduceMean", "x", "m", {"axes": [2, 3], "keepdims": 1})]
    gate = [("Sigmoid", "m", "s", {}), ("Mul", "x s", "p", {}), ("Flatten", "p", "f", {}), ("Gemm", "f w", "y", {})]
    matrix = {"w": floats(27, 2)}
    yield turned("turned at once", [("Identity", "x", "a", {})], {})
    yield turned("of equal sizes", [("Identity", "x", "a", {})], {}, (3, 3, 3))
    yield turned("scaled", [("Mul", "x s", "b", {}), ("Sub", "b o", "a", {})], {"s": np.float32(2), "o": np.float32(1)})
    yield turned("with means", [("Sub", "x m", "a", {})], {"m": floats(3)}, (3, 3, 3))
    yield turned("cropped", [("Slice", "x from to axes", "a", {})], cut)
    yield turned("with a frame", [("Pad", "x pads", "a", {})], pads)
    yield turned("clipped and joined", [("Relu", "x", "b", {}), ("Concat", "b x", "a", {"axis": 1})], {})
    yield case("convolution", ["n", 3, 5, 4], FIRST, ["n", 2], FLAT, [("Conv", "x k", "c", {})] + head, kernel)
    yield case("convolution of equal sizes", SQUARE, FIRST, ["n", 2], FLAT, [("Conv", "x k", "c", {})] + head, kernel)
    between = [("Mul", "x s", "a", {}), ("Sub", "a m", "b", {}), ("Conv", "b k", "c", {})]
    scaled = {**kernel, "s": np.float32(2), "m": floats(1, 3, 1, 1)}
    nodes = between[:-1] + [("Conv", "b k", "y", {})]
    yield case("scaled first", SQUARE, FIRST, ["n", 2, None, None], FIRST, nodes, scaled)
    yield case("scaled first, few rows", ["n", 3, 4, 9], FIRST, ["n", 2], FLAT, between + head, scaled)
    back = [("Conv", "x k", "c", {}), ("Transpose", "c", "t", {"perm": TO_LAST}), ("Add", "t b", "a", {})]
    yield case(
        "turned round after it",
        ["n", 3, 5, 5],
        FIRST,
        ["n", None, None, 2],
        LAST,
        back + [("Softmax", "a", "y", {"axis": -1})],
        {**kernel, "b": floats(2)},
    )
    yield case("gate of channels last", SQUARE, LAST, ["n", 2], FLAT, means + gate, matrix)
    yield case("gate of channels second", SQUARE, FIRST, ["n", 2], FLAT, seconds + gate, matrix)
    yield case("product", SQUARE, LAST, ["n", 3, 3, 2], LAST, [("MatMul", "x w", "y", {})], {"w": floats(3, 2)})
    yield case("softmax of the second", SQUARE, FIRST, SQUARE, FIRST, [("Softmax", "x", "y", {"axis": 1})], {})
    yield case("softmax of the last", SQUARE, LAST, SQUARE, LAST, [("Softmax", "x", "y", {"axis": 3})], {})
    yield case("elements, written first", SQUARE, FIRST, SQUARE, FIRST, [("Relu", "x", "y", {})], {}, "pytorch")
    yield case("elements, written last", SQUARE, LAST, SQUARE, LAST, [("Relu", "x", "y", {})], {}, "tf2onnx")
    blocks = {"to6": np.array([-1, 3, 4, 2, 3, 2]), "to4": np.array([-1, 12, 4, 3])}
    nodes = [("Reshape", "x to6", "a", {}), ("Transpose", "a", "b", {"perm": [0, 1, 3, 5, 2, 4]}), ("Reshape", "b to4", "y", {})]
    yield case("pixels as channels", ["n", 3, 8, 6], FIRST, ["n", 12, 4, 3], FIRST, nodes, blocks, "pytorch")
    yield dense(["n", 1, 6, 6], FIRST, "one channel, second")
    yield dense(["n", 6, 6, 1], LAST, "one channel, last")
    yield dense(SQUARE, FIRST, "ONNX's order")
    yield dense(SQUARE, FIRST, "PyTorch's order", "pytorch")
    yield dense(SQUARE, LAST, "TensorFlow's order", "tf2onnx")
    yield dense(["n", 4, 5, 3], LAST, "TensorFlow's order of few rows", "tf2onnx")
    yield dense(SQUARE, FIRST, "Muster's own order", "muster")


def last(array, order):
    return np.moveaxis(array, 1, -1) if order == FIRST else array


def check(folder, name, model, shape, order, output_order):
    path, data, out = (os.path.join(folder, file) for file in ("m.onnx", "x.npz", "y.npz"))
    onnx.save(model, path)
    if os.path.exists(out):
        os.remove(out)
    x = floats(2, *shape[1:])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    wanted = last(session.run(None, {"x": x})[0], output_order)
    np.savez(data, x=last(x, order))
    command = [MUSTER, "predict", "--load", path, "--data", f"npz:{data}", "--out", out]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return f"{name}: {process.stderr.strip()}"
    with np.load(out) as arrays:
        got = arrays[arrays.files[0]]
    if got.shape != wanted.shape:
        return f"{name}: shape {got.shape}, ONNX Runtime {wanted.shape}"
    difference = np.abs(got - wanted).max()
    return None if difference < TOLERANCE else f"{name}: differs by {difference}"


def main():
    bad, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for one in cases():
            bad.append(check(folder, *one))
            count += 1
    bad = [line for line in bad if line]
    print("\n".join(bad) or f"ok: {count} files")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
