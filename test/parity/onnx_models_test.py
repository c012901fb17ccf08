"""Models that Muster writes as ONNX: onnx's checker takes them, ONNX Runtime gives the same outputs, and so does Muster
when it has read them again."""

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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
