"""The node tests of the package onnx: Muster computes what ONNX says. A case is refused, with an error, where it is of a
dtype that Muster does not have, or of something that is not read: how many pass is known, and stands in docs/onnx.md, as
does why others are refused, by operator."""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

SKIPPED = 77
try:
    import onnx
    from onnx.backend.test.case import node as cases
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(SKIPPED)

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_onnx")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "u8": "uint8", "bool": "bool"}
NUMBERS = {"ConstantOfShape", "If", "Loop", "Range"}  # their first input, too, is a size, or a condition
LEAST, MOST = 13, 25  # opsets that are read
LEAST_PASSED = 857


def operators():
    """Those of the tables of the reader."""
    names = set()
    for file in os.listdir(os.path.join(ROOT, "src", "model_file", "onnx")):
        if file.startswith("onnx_") and file.endswith(".c"):
            with open(os.path.join(ROOT, "src", "model_file", "onnx", file), encoding="utf-8") as source:
                names |= set(re.findall(r'\{"(\w+)", \.?read', source.read()))
    return names


def collect():
    """The cases of one node."""
    found = [c for c in cases.collect_testcases(None) if len(c.model.graph.node) == 1]
    return [c for c in found if is_tensor(c)]


def operator(case):
    return case.model.graph.node[0].op_type


def has_reason(name):
    """Whether docs/onnx.md says why cases of this operator are refused."""
    with open(os.path.join(ROOT, "docs", "onnx.md"), encoding="utf-8") as page:
        text = page.read()
    return re.search(rf"\b{name}\b", text[text.index("## What is refused") : text.index("## Shown by")])


def to_array(value):
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def is_tensor(case):
    """Sequences and optional values are none."""
    return all(value.type.HasField("tensor_type") for value in case.model.graph.input)


def give_axes(graph):
    """The axes of Unsqueeze in GRAPH as an input, which they are from opset 13 on."""
    for node in graph.node:
        for attribute in list(node.attribute) if node.op_type == "Unsqueeze" else []:
            name = node.output[0] + "_axes"
            graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(attribute.ints, "int64"), name))
            node.input.append(name)
            node.attribute.remove(attribute)


def fit(model, inputs):
    """The same operators in an opset that is read, where they differ in dtypes only; inputs that tell shapes, limits or
    axes are constants. Returns the inputs that are left."""
    for opset in model.opset_import:
        opset.version = min(max(opset.version, LEAST), MOST)
    model.ir_version = 8
    graph, node, left = model.graph, model.graph.node[0], []
    for attribute in node.attribute:
        give_axes(attribute.g)
    constant = {"GRU": 9, "LSTM": 9, "RNN": 9, "If": 1, "Loop": 2}.get(node.op_type, 0)
    constant = {"Clip": 3, "Pad": 4, "Dropout": 3, "Resize": 4, "CumSum": 2, "OneHot": 3, "TopK": 2}.get(node.op_type, constant)
    shapes = {"ConstantOfShape", "Expand", "Range", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Unsqueeze"}
    for value, array in zip(list(graph.input), inputs):
        index = list(node.input).index(value.name) if value.name in node.input else 0
        is_shape = node.op_type in shapes or node.op_type.startswith("Reduce")
        if (index or node.op_type in NUMBERS) and (index < constant or is_shape):
            graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
            graph.input.remove(value)
        else:
            left.append(array)
    return left


def write(folder, number, case):
    """A line for the program."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    inputs, _ = case.data_sets[0]
    paths = [os.path.join(folder, f"{number}.onnx")]
    for i, array in enumerate(fit(model, [to_array(x) for x in inputs])):
        paths.append(os.path.join(folder, f"{number}_{i}.pb"))
        with open(paths[-1], "wb") as file:
            file.write(onnx.numpy_helper.from_array(array).SerializeToString())
    onnx.save(model, paths[0])
    return " ".join(paths)


def result(output):
    if output["dtype"] == "bf16":
        bits = np.frombuffer(bytes.fromhex(output["bytes"]), "uint16").astype("uint32") << 16
        return bits.view("float32").astype("bfloat16").reshape(output["shape"])
    return np.frombuffer(bytes.fromhex(output["bytes"]), DTYPES[output["dtype"]]).reshape(output["shape"])


def differs(case, outputs):
    wanted = case.data_sets[0][1]
    if len(outputs) != len(wanted):
        return f"{len(outputs)} outputs of {len(wanted)}"
    for want, got in zip(wanted, map(result, outputs)):
        want = to_array(want)
        if want.shape != got.shape or want.dtype != got.dtype:
            return f"{got.dtype}{list(got.shape)}, must be {want.dtype}{list(want.shape)}"
        if not np.allclose(got, want, rtol=case.rtol, atol=case.atol, equal_nan=True):
            return f"{got.ravel()[:6]}, must be {want.ravel()[:6]}"
    return None


def run(chosen):
    with tempfile.TemporaryDirectory() as folder:
        lines = "\n".join(write(folder, i, case) for i, case in enumerate(chosen)) + "\n"
        process = subprocess.run([PROGRAM], input=lines, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in process.stdout.splitlines()]


def main():
    names = operators()
    chosen = collect()
    passed, refused, wrong, tested = 0, [], [], set()
    for case, answer in zip(chosen, run(chosen)):
        if "error" in answer:
            refused.append((case, answer["error"]))
            continue
        difference = differs(case, answer["outputs"])
        passed += difference is None
        tested |= {operator(case)}
        if difference:
            wrong.append((case.name, difference))
    for case, why in refused if "-v" in sys.argv else []:
        print(f"refused: {case.name}: {operator(case)}: {why}")
    for name, why in wrong:
        print(f"wrong: {name}: {why}")
    known = [case for case in chosen if operator(case) in names]
    print(f"{passed} of {len(known)} node tests of {len(names)} operators pass; {len(chosen)} cases in all")
    print(f"no case of: {', '.join(sorted(names - tested)) or 'none'}")
    unknown = sorted({operator(case) for case, _ in refused if not has_reason(operator(case))})
    print(f"refused without a reason in docs/onnx.md: {', '.join(unknown) or 'none'}")
    return 1 if wrong or unknown or passed < LEAST_PASSED else 0


if __name__ == "__main__":
    sys.exit(main())
