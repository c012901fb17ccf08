"""Models of ONNX as files of Keras: `muster convert m.onnx m.keras`, and Keras predicts from that file what ONNX Runtime
does from the first one, within 1e-5 of the largest. The models are as PyTorch's exporters write them (by the package
onnx, and by PyTorch where it is installed), and Keras' own by tf2onnx, where that is installed. `muster train` goes on
from one."""

import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

import muster

tf = muster.tensorflow()
try:
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(muster.SKIPPED)

import keras

TOLERANCE = 1e-5
random = np.random.RandomState(7)


def made(name, nodes, shape, weights, integers=0):
    """A model of NODES, "operator output inputs..." (_: none) with attributes, whose input x has SHAPE for each example."""
    tensors = []
    for key, value in weights.items():
        if isinstance(value, tuple):
            value = (random.rand(*value) + 0.5 if "var" in key else random.randn(*value) / 2).astype("f4")
        tensors.append(onnx.numpy_helper.from_array(np.asarray(value), key))
    made_nodes = []
    for words, attributes in nodes:
        operator, output, *inputs = words.split()
        made_nodes.append(onnx.helper.make_node(operator, ["" if i == "_" else i for i in inputs], [output], **attributes))
    x = onnx.helper.make_tensor_value_info("x", 7 if integers else 1, ["n", *shape])
    y = onnx.helper.make_empty_tensor_value_info("y")
    y.type.tensor_type.elem_type = 1
    graph = onnx.helper.make_graph(made_nodes, name, [x], [y], tensors)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def norm(prefix, channels):
    return {f"{prefix}.{part}": (channels,) for part in ("weight", "bias", "running_mean", "running_var")}


def norm_inputs(prefix):
    return " ".join(norm(prefix, 1))


def models():
    """By name: a model and rows of its input."""
    pad = {"pads": [1, 1, 1, 1]}
    yield "mlp", made(
        "mlp",
        [("Gemm a x fc1.weight fc1.bias", {"transB": 1}), ("Relu b a", {}), (f"BatchNormalization c b {norm_inputs('bn')}", {}),
         ("Gemm d c fc2.weight fc2.bias", {"transB": 1}), ("Softmax y d", {"axis": 1})],
        [6], {"fc1.weight": (8, 6), "fc1.bias": (8,), **norm("bn", 8), "fc2.weight": (4, 8), "fc2.bias": (4,)},
    ), random.randn(5, 6).astype("f4")
    yield "cnn", made(
        "cnn",
        [("Conv a x conv1.weight conv1.bias", pad), (f"BatchNormalization b a {norm_inputs('bn1')}", {}), ("Relu c b", {}),
         ("MaxPool d c", {"kernel_shape": [2, 2], "strides": [2, 2]}),
         ("Conv e d conv2.weight", {"strides": [2, 2], **pad}), (f"BatchNormalization f e {norm_inputs('bn2')}", {}),
         ("LeakyRelu g f", {"alpha": 0.1}), ("Flatten h g", {}), ("Gemm y h fc.weight fc.bias", {"transB": 1})],
        [3, 8, 12], {"conv1.weight": (4, 3, 3, 3), "conv1.bias": (4,), **norm("bn1", 4), "conv2.weight": (6, 4, 3, 3),
                     **norm("bn2", 6), "fc.weight": (5, 36), "fc.bias": (5,)},
    ), random.randn(5, 3, 8, 12).astype("f4")
    yield "residual", made(
        "residual",
        [("Conv a x stem.weight", {"strides": [2, 2], **pad}), ("Relu b a", {}),
         ("MaxPool c b", {"kernel_shape": [3, 3], "strides": [2, 2], **pad}),
         ("Conv d c depthwise.weight depthwise.bias", {"group": 8, **pad}), ("Sigmoid s d", {}), ("Mul e d s", {}),
         ("Conv f e grouped.weight", {"group": 2}), ("Add g f c", {}), ("Clip h g zero six", {}),
         ("GlobalAveragePool i h", {}), ("Flatten j i", {}), ("Gemm y j fc.weight", {"transB": 1})],
        [3, 33, 21], {"stem.weight": (8, 3, 3, 3), "depthwise.weight": (8, 1, 3, 3), "depthwise.bias": (8,),
                      "grouped.weight": (8, 4, 1, 1), "fc.weight": (5, 8), "zero": np.float32(0), "six": np.float32(6)},
    ), random.randn(5, 3, 33, 21).astype("f4")
    yield "decoder", made(
        "decoder",
        [("Conv a x c.weight c.bias", pad), ("Relu b a", {}), ("MaxPool d b", {"kernel_shape": [2, 2], "strides": [2, 2]}),
         ("ConvTranspose e d up.weight up.bias", {"strides": [2, 2]}), ("Concat f e b", {"axis": 1}),
         ("ConvTranspose g f out.weight", {"strides": [2, 2], "output_padding": [1, 1], **pad}),
         ("Resize h g _ scales", {"mode": "linear"}), ("Tanh i h", {}), ("GlobalMaxPool j i", {}), ("Flatten k j", {}),
         ("Gemm y k fc.weight", {"transB": 1})],
        [3, 8, 12], {"c.weight": (4, 3, 3, 3), "c.bias": (4,), "up.weight": (4, 5, 2, 2), "up.bias": (5,),
                     "out.weight": (9, 3, 3, 3), "scales": np.array([1, 1, 2, 3], "f4"), "fc.weight": (4, 3)},
    ), random.randn(5, 3, 8, 12).astype("f4")
    yield "gelu", made(
        "gelu",
        [("MatMul a x fc1.weight", {}), ("Add b a fc1.bias", {}), ("Div c b root", {}), ("Erf d c", {}), ("Add e d one", {}),
         ("Mul f b e", {}), ("Mul g f half", {}), ("MatMul y g fc2.weight", {})],
        [6], {"fc1.weight": (6, 8), "fc1.bias": (8,), "fc2.weight": (8, 3), "root": np.float32(2**0.5),
              "one": np.float32(1), "half": np.float32(0.5)},
    ), random.randn(5, 6).astype("f4")
    yield "text", made(
        "text",
        [("Gather a table.weight x", {}), ("LayerNormalization b a ln.weight ln.bias", {}),
         ("ReduceMean c b", {"axes": [1], "keepdims": 0}), ("Gemm y c fc.weight fc.bias", {"transB": 1})],
        [7], {"table.weight": (20, 6), "ln.weight": (6,), "ln.bias": (6,), "fc.weight": (3, 6), "fc.bias": (3,)}, integers=1,
    ), random.randint(0, 20, (5, 7))
    yield "sequence", made(
        "sequence",
        [("Conv a x c.weight c.bias", {"pads": [1, 1]}), (f"BatchNormalization b a {norm_inputs('n')}", {}), ("Relu c b", {}),
         ("MaxPool d c", {"kernel_shape": [2], "strides": [2]}), ("Flatten e d", {}), ("Gemm y e fc.weight", {"transB": 1})],
        [3, 10], {"c.weight": (4, 3, 3), "c.bias": (4,), **norm("n", 4), "fc.weight": (5, 20)},
    ), random.randn(5, 3, 10).astype("f4")
    yield "volumes", made(
        "volumes",
        [("Conv a x c.weight", {"pads": [1] * 6}), ("Relu b a", {}), ("AveragePool c b", {"kernel_shape": [2] * 3, "strides": [2] * 3}),
         ("Concat d c c", {"axis": 1}), ("GlobalMaxPool e d", {}), ("Flatten y e", {})],
        [2, 4, 6, 6], {"c.weight": (4, 2, 3, 3, 3)},
    ), random.randn(5, 2, 4, 6, 6).astype("f4")


def keras_models():
    layers, data = keras.layers, keras.Input
    images = [data((8, 10, 3)), layers.Conv2D(4, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
              layers.MaxPooling2D(), layers.DepthwiseConv2D(3, padding="same"), layers.Flatten(), layers.Dense(4)]
    yield "keras_cnn", keras.Sequential(images), random.randn(5, 8, 10, 3).astype("f4")
    table = [data((6,)), layers.Dense(8, activation="relu"), layers.Dense(3, activation="softmax")]
    yield "keras_mlp", keras.Sequential(table), random.randn(5, 6).astype("f4")
    words = [data((9,), dtype="int32"), layers.Embedding(20, 6), layers.GlobalAveragePooling1D(), layers.Dense(3)]
    steps = [data((7, 4)), layers.Bidirectional(layers.LSTM(5, return_sequences=True)), layers.LSTM(3), layers.Dense(2)]
    yield "keras_lstm", keras.Sequential(steps), random.randn(5, 7, 4).astype("f4")
    yield "keras_bidirectional", keras.Sequential([data((7, 4)), layers.Bidirectional(layers.LSTM(5))]), random.randn(5, 7, 4).astype("f4")
    tagged = [data((7, 4)), layers.LSTM(5, return_sequences=True), layers.Dense(6, activation="elu"),
              layers.Dropout(0.3), layers.Dense(3, activation="softmax")]
    yield "keras_dense_of_steps", keras.Sequential(tagged), random.randn(5, 7, 4).astype("f4")
    pixels = [data((4, 6, 5)), layers.Dense(3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(2)]
    yield "keras_dense_of_pixels", keras.Sequential(pixels), random.randn(5, 4, 6, 5).astype("f4")
    convolved = [data((6, 7, 3)), layers.Conv2D(4, 3, activation="relu"), layers.Dense(5), layers.Dense(3, activation="softmax")]
    yield "keras_dense_after_conv", keras.Sequential(convolved), random.randn(5, 6, 7, 3).astype("f4")
    yield "keras_text", keras.Sequential(words), random.randint(0, 20, (5, 9)).astype("i4")


def export_keras(folder):
    """Those models of Keras as files, where tf2onnx is installed."""
    try:
        import tf2onnx  # pylint: disable=unused-import,import-outside-toplevel
    except ImportError:
        print("without tf2onnx: models of Keras are left out")
        return
    for name, model, x in keras_models():
        for weight in model.weights:
            if "moving" in weight.path:
                weight.assign(np.abs(random.randn(*weight.shape)) / 4 + 0.5)
            elif "bias" in weight.path: # zeros would be left out of the file
                weight.assign(random.randn(*weight.shape) / 4)
        path = os.path.join(folder, f"{name}.onnx")
        model.predict(x, verbose=0)
        model.export(path, format="onnx", verbose=False)
        yield name, path, x


def export_pytorch(folder):
    """A network with batch normalization as PyTorch writes it, where that is installed."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("without PyTorch: its exporter is left out")
        return
    nn = torch.nn
    torch.manual_seed(3)
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Dropout(0.3), nn.Linear(4 * 4 * 5, 8), nn.GELU(), nn.Linear(8, 5)).eval()
    net[1].running_mean.normal_(0, 0.2)
    x = torch.randn(5, 3, 8, 10)
    path = os.path.join(folder, "pytorch.onnx")
    open_rows = {"dynamic_axes": {"x": {0: "n"}, "y": {0: "n"}}, "input_names": ["x"], "output_names": ["y"]}
    mode = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}  # keeps the normalization
    torch.onnx.export(net, (x,), path, dynamo=False, opset_version=17, **open_rows, **mode)
    yield "pytorch", path, x.numpy()

    ends = {"all": lambda steps, state: steps, "last": lambda steps, state: steps[:, -1],
            "first": lambda steps, state: steps[:, 0], "flat": lambda steps, state: steps.reshape(steps.shape[0], -1),
            "state": lambda steps, state: state[-1], "view": lambda steps, state: state.view(-1, 5),
            "both_states": lambda steps, state: torch.cat((state[-2], state[-1]), 1),
            "states_turned": lambda steps, state: state.transpose(0, 1).reshape(-1, 10)}

    class Recurrent(nn.Module):
        """A recurrent network of PyTorch, of which its END is taken, with a head of Linear."""

        def __init__(self, cell, end, **options):
            super().__init__()
            self.cell, self.end = cell(4, 5, batch_first=True, **options), ends[end]
            self.head = nn.LazyLinear(3)

        def forward(self, rows):
            steps, state = self.cell(rows)
            return self.head(self.end(steps, state[0] if isinstance(state, tuple) else state))

    class Between(nn.Module):
        """Convolutions before and after a recurrent layer, a sum with its source, and a part of a normalization."""

        def __init__(self):
            super().__init__()
            self.before, self.after = nn.Conv1d(4, 5, 3, padding=1), nn.Conv1d(5, 6, 2)
            self.cell, self.norm = nn.GRU(5, 5, batch_first=True), nn.LayerNorm(6)

        def forward(self, rows):
            x = self.before(rows.transpose(1, 2)).transpose(1, 2)
            x = x + self.cell(x)[0]
            return self.norm(self.after(x.transpose(1, 2)).transpose(1, 2))[:, 2]

    two, deep = {"bidirectional": True}, {"num_layers": 2}
    nets = {f"{cell.__name__}_{end}_{'_'.join(options)}": Recurrent(cell, end, **options)
            for cell, end, options in [(nn.LSTM, "last", {}), (nn.LSTM, "last", deep), (nn.GRU, "state", {}),
                                       (nn.LSTM, "all", two), (nn.GRU, "last", two), (nn.RNN, "all", {"bias": False}),
                                       (nn.LSTM, "flat", two), (nn.GRU, "first", two), (nn.RNN, "view", {}),
                                       (nn.LSTM, "both_states", two), (nn.GRU, "both_states", {**two, **deep}),
                                       (nn.GRU, "state", deep), (nn.LSTM, "states_turned", two)]}
    for name, net in {**nets, "between": Between()}.items():
        path, x = os.path.join(folder, f"pytorch_{name}.onnx"), torch.randn(5, 7, 4)
        net(x)
        torch.onnx.export(net.eval(), (x,), path, dynamo=False, opset_version=17, **open_rows)
        yield f"pytorch_{name}", path, x.numpy()


def run(path, x):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def command(*words):
    return subprocess.run([os.environ["MUSTER"], *words], capture_output=True, text=True, check=False)


def differs(path, x):
    out = path.replace(".onnx", ".keras")
    answer = command("convert", path, out)
    if answer.returncode:
        return answer.stderr.strip()
    model = keras.models.load_model(out)
    rows = np.moveaxis(x, 1, -1) if x.ndim > 3 and model.input_shape[1:] != x.shape[1:] else x
    want, got = run(path, x), model.predict(rows, verbose=0)
    if want.shape != got.shape:
        return f"the shape is {list(got.shape)}, and must be {list(want.shape)}"
    off = np.abs(want - got).max() / max(1, np.abs(want).max())
    return None if off < TOLERANCE else f"off by {off:.2g}"


def goes_on(folder):
    """Training from a file of ONNX, and to a file of Keras."""
    path, data = os.path.join(folder, "mlp.onnx"), os.path.join(folder, "data.npz")
    np.savez(data, x=random.randn(40, 6).astype("f4"), y=np.arange(40) % 4)
    saved = os.path.join(folder, "trained.keras")
    answer = command("train", "--load", path, "--data", f"npz:{data}", "--epochs", "2", "--batch-size", "20", "--save", saved)
    if answer.returncode:
        return answer.stderr.strip()
    moved = keras.models.load_model(saved).get_layer("bn").moving_mean
    first = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}["bn.running_mean"]
    return None if np.abs(np.asarray(moved) - first).max() > 1e-4 else "the moving mean has not moved"


def main():
    warnings.filterwarnings("ignore")
    failures, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, model, x in models():
            path = os.path.join(folder, f"{name}.onnx")
            onnx.checker.check_model(model, full_check=True)
            onnx.save(model, path)
            files.append((name, path, x))
        files += [*export_keras(folder), *export_pytorch(folder)]
        checks = [(name, lambda p=path, r=x: differs(p, r)) for name, path, x in files]
        for name, check in checks + [("training", lambda: goes_on(folder))]:
            failed = check()
            count += 1
            failures += failed is not None
            if failed:
                print(f"{name}: {failed}")
    print(f"{count - failures} of {count} as they must be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
