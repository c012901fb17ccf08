"""Keras' models as its `export(format="onnx")` writes them, by tf2onnx: Muster's predictions are Keras' within 1e-5 of the
largest. keras_loops_test.py has those whose steps tf2onnx writes as a loop."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import muster

tf = muster.tensorflow()
try:
    import onnx
    import tf2onnx  # pylint: disable=unused-import
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(muster.SKIPPED)

import keras
from keras import layers

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_onnx")
TOLERANCE = 1e-5
random = np.random.RandomState(9)


def attention(causal):
    x = keras.Input((6, 8))
    y = layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=causal)
    return keras.Model(x, layers.LayerNormalization()(layers.add([x, y])))


def chain(shape, *parts, dtype="float32"):
    return keras.Sequential([keras.Input(shape, dtype=dtype), *parts])


def models():
    both = layers.Bidirectional
    yield "dense", chain((5,), layers.Dense(6, activation="gelu"), layers.Dense(6, activation="silu"), layers.PReLU(),
                         layers.Dense(6, activation="selu"), layers.Dense(6, activation="mish"),
                         layers.Dense(3, activation="softmax"))
    yield "lstm", chain((7, 3), layers.LSTM(5))
    yield "lstms", chain((7, 3), layers.LSTM(5, return_sequences=True), layers.LSTM(4, go_backwards=True))
    yield "both_lstms", chain((7, 3), both(layers.LSTM(5, return_sequences=True)), layers.Dense(2))
    yield "layer_norm", chain((7, 3), layers.LayerNormalization(), layers.Dense(4))
    yield "group_norm", chain((6, 6, 4), layers.GroupNormalization(2), layers.UnitNormalization())
    yield "embedding", chain((9,), layers.Embedding(20, 6), layers.GlobalAveragePooling1D(), layers.Dense(3), dtype="int32")
    yield "convolutions", chain((8, 8, 3), layers.Conv2D(4, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
                                layers.MaxPooling2D(), layers.DepthwiseConv2D(3), layers.Flatten(), layers.Dense(4))
    yield "separable", chain((8, 8, 3), layers.SeparableConv2D(4, 3, strides=2, padding="same"), layers.BatchNormalization(),
                             layers.AveragePooling2D(2), layers.GlobalMaxPooling2D())
    yield "sequences", chain((9, 3), layers.Conv1D(4, 3, padding="causal", dilation_rate=2), layers.MaxPooling1D(2),
                             layers.Flatten())
    yield "transposed", chain((5, 5, 3), layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
                              layers.UpSampling2D(2, interpolation="bilinear"), layers.ZeroPadding2D(1))
    yield "volumes", chain((5, 5, 4, 2), layers.Conv3D(4, 3, padding="same"), layers.MaxPooling3D(2))
    yield "each_step", chain((4, 6, 6, 2), layers.TimeDistributed(layers.Conv2D(3, 3)), layers.Reshape((4, -1)))
    yield "attention", attention(False)
    yield "causal", attention(True)
    yield "mobilenet", keras.applications.MobileNetV2((64, 64, 3), alpha=0.35, weights=None, classes=10)


def write(folder, name, model):
    """A line for the program, and what Keras predicts."""
    for weight in model.weights:
        if "variance" in weight.path:
            weight.assign(np.abs(random.randn(*weight.shape)) * 0.3 + 0.8)
        elif any(part in weight.path for part in ("mean", "beta", "bias")):
            weight.assign(random.randn(*weight.shape) * 0.1)
    shape = (3, *(6 if size is None else size for size in model.input_shape[1:]))
    x = random.randint(0, 20, shape).astype("i4") if "int" in model.input_dtype else random.randn(*shape).astype("f4")
    if "masked" in name:  # at the end, and in the middle
        x[0, 4:] = x[1, 2:4] = 0
    y = model.predict(x, verbose=0)
    path = os.path.join(folder, name)
    model.export(path + ".onnx", format="onnx", verbose=False)
    with open(path + ".pb", "wb") as file:
        file.write(onnx.numpy_helper.from_array(x).SerializeToString())
    return f"{path}.onnx {path}.pb", y


def result(output):
    return np.frombuffer(bytes.fromhex(output["bytes"]), "float32").reshape(output["shape"])


def check(named, refused):
    """Compares the models of NAMED, pairs of a name and a model. Those in REFUSED must give an error with the text there.
    Returns the status of the program."""
    names, lines, wanted = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, model in named:
            line, y = write(folder, name, model)
            names.append(name)
            lines.append(line)
            wanted.append(y)
        process = subprocess.run([PROGRAM], input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE, text=True)
    failures = 0
    for name, line, want in zip(names, process.stdout.splitlines(), wanted):
        answer = json.loads(line)
        failed = None
        if name in refused:
            failed = None if refused[name] in answer.get("error", "") else answer.get("error", "it is read")
        elif "error" in answer:
            failed = answer["error"]
        else:
            got = result(answer["outputs"][0])
            off = np.abs(got - want).max() / max(1, np.abs(want).max()) if got.shape == want.shape else np.inf
            failed = None if off < TOLERANCE else f"off by {off:.2g}, of the shapes {got.shape} and {want.shape}"
        failures += failed is not None
        if failed:
            print(f"{name}: {failed}")
    print(f"{len(names) - failures} of {len(names)} models of Keras {keras.__version__} as they must be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(check(models(), {}))
