"""What the parity tests share: values computed by Muster (evaluate.c says what a case is) beside TensorFlow's."""

import json
import math
import os
import subprocess
import sys

import numpy as np

SKIPPED = 77
_DTYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint8": "u8", "bool": "bool"}


def tensorflow():
    """The module; ends the program with SKIPPED where it is not installed."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        import tensorflow as tf
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        sys.exit(SKIPPED)
    return tf


def summary(model):
    """The table of a model of Keras, 80 columns wide."""
    os.environ["COLUMNS"] = "80"
    lines = []
    model.summary(print_fn=lines.append)
    return "\n".join(lines)


def number(x):
    """JSON has no NaN and no infinities: they are strings."""
    x = float(x)
    return x if math.isfinite(x) else str(x)


def tensor(array):
    array = np.asarray(array)
    if array.dtype == object:  # of bytes
        return {"dtype": "string", "shape": list(array.shape), "values": [list(x) for x in array.flat]}
    return {"dtype": _DTYPES[array.dtype.name], "shape": list(array.shape), "values": [number(x) for x in array.flat]}


def _plain(x):
    if isinstance(x, (list, tuple)):
        return [_plain(item) for item in x]
    if isinstance(x, dict):
        return {key: _plain(item) for key, item in x.items()}
    if isinstance(x, (np.ndarray, np.generic)):
        return tensor(x)
    return number(x) if isinstance(x, float) else x


def evaluate(cases, program="evaluate"):
    """The answer of parity_PROGRAM to each case, a list; arrays of NumPy in CASES become tensors."""
    program = os.path.join(os.environ["MUSTER_BUILD"], "test", f"parity_{program}")
    text = json.dumps(_plain(list(cases)))
    modules = dict(os.environ, MUSTER_MODULE_PATH=os.environ["MUSTER_BUILD"])
    output = subprocess.run([program], input=text, check=True, stdout=subprocess.PIPE, text=True, env=modules).stdout
    answers = [json.loads(line) for line in output.splitlines()]
    for answer in answers:
        if "error" in answer:
            raise RuntimeError(f"muster: {answer['error']}")
    return answers


def same(got, expected, tolerance, floor):
    """True where both have one number of elements, NaN and infinities in the same places, and the rest differs by at
    most TOLERANCE of itself, or of FLOOR where it is smaller than that."""
    got = np.array([float(x) for x in got], np.float64)
    expected = np.asarray(expected, np.float64).ravel()
    if got.shape != expected.shape:
        return False
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite], expected[~finite], equal_nan=True):
        return False
    got, expected = got[finite], expected[finite]
    return bool(np.all(np.abs(got - expected) <= tolerance * np.maximum(np.abs(expected), floor)))


class Report:
    """Counts what was compared and prints what differs; finish() is the exit status."""

    def __init__(self):
        self.compared = 0
        self.failed = 0

    def check(self, name, good, got, expected):
        self.compared += 1
        if good:
            return
        self.failed += 1
        print(f"FAILED {name}\n  Muster     {got}\n  TensorFlow {expected}")

    def values(self, name, got, expected, tolerance, floor=1e-30):
        """GOT as Muster answers: a list of numbers."""
        expected = np.asarray(expected, np.float64).ravel()
        self.check(name, same(got, expected, tolerance, floor), got, expected.tolist())

    def finish(self):
        print(f"{self.compared} compared, {self.failed} differ")
        return 1 if self.failed or not self.compared else 0
