"""The networks of muster/applications.h against keras.applications: the summary letter by letter, the weights by name,
shape and order, what they predict, and what a step of training makes of MobileNetV2.

    applications_test.py

Needs TensorFlow; exits 77 (skipped) where it is not installed.
"""

import os
import subprocess
import sys
import tempfile

import h5py
import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

random = np.random.RandomState(3)


def mobilenet_v2(size, alpha, top=True, classes=1000, activation="softmax"):
    return keras.applications.MobileNetV2((*size, 3), alpha=alpha, include_top=top, weights=None, classes=classes,
                                          classifier_activation=activation)


def case(name, **options):
    return {"application": name, "options": options}


def shapes(report):
    cases = [
        (case("mobilenet_v2", softmax=True), lambda: mobilenet_v2((224, 224), 1.0)),
        (case("mobilenet_v2", alpha=0.35, input_shape=[96, 100, 3], classes=10),
         lambda: mobilenet_v2((96, 100), 0.35, classes=10)),
        (case("mobilenet_v2", alpha=0.5, input_shape=[33, 97, 3], no_top=True),
         lambda: mobilenet_v2((33, 97), 0.5, top=False)),
        (case("mobilenet_v2", alpha=1.4, input_shape=[128, 128, 3]), lambda: mobilenet_v2((128, 128), 1.4)),
        (case("resnet50"), lambda: keras.applications.ResNet50(weights=None)),
        (case("resnet50", no_top=True, input_shape=[65, 64, 3]),
         lambda: keras.applications.ResNet50(weights=None, include_top=False, input_shape=(65, 64, 3))),
    ]
    for (c, make), answer in zip(cases, muster.evaluate([c for c, _ in cases], "models")):
        keras.utils.clear_session()
        model = make()
        # The line above the table has the name of the model, which is an option of Muster's summary.
        got, expected = (text.split("\n", 1)[1] for text in (answer["summary"], muster.summary(model)))
        report.check(f"summary of {c}", got == expected, "\n" + got, "\n" + expected)
        weights = [[weight.path, list(weight.shape)] for weight in model.weights]
        report.check(f"weights of {c}", answer["weights"] == weights, answer["weights"], weights)


def predictions(report):
    """With the weights of Keras; the moving statistics are not those of an untrained layer, so that epsilon counts."""
    networks = [("mobilenet_v2", (64, 64), {"alpha": 0.35}, lambda: mobilenet_v2((64, 64), 0.35, classes=10)),
                ("mobilenet_v2", (35, 42), {"alpha": 0.35}, lambda: mobilenet_v2((35, 42), 0.35, classes=10)),
                ("resnet50", (40, 33), {},
                 lambda: keras.applications.ResNet50(weights=None, input_shape=(40, 33, 3), classes=10))]
    for name, size, options, make in networks:
        rows = random.uniform(-1, 1, (3, *size, 3)).astype(np.float32)
        keras.utils.clear_session()
        keras.utils.set_random_seed(5)
        model = make()
        for weight in model.weights:
            if weight.path.endswith("moving_variance"):
                weight.assign(random.uniform(0.05, 0.3, weight.shape))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.npz")
            np.savez(path, **{weight.path: weight.numpy() for weight in model.weights})
            answer, = muster.evaluate([dict(case(name, input_shape=[*size, 3], classes=10, softmax=True, **options),
                                            load=path, predict=[rows])], "models")
        report.values(f"predictions of {name} at {size}", answer["predicted"], model(rows, training=False), 1e-4, 1e-2)


def training(report):
    """One step: from the second on small differences grow, through the small variances of a network that has not
    learnt anything yet. A value that rounding puts on the other side of a bend of relu6 changes a gradient by up to 2%;
    XLA, which Keras would use, by more."""
    size, rows = (64, 64), 8
    data = [random.uniform(-1, 1, (rows, *size, 3)).astype(np.float32), random.randint(0, 10, rows).astype(np.int32)]
    keras.utils.clear_session()
    keras.utils.set_random_seed(5)
    model = mobilenet_v2(size, 0.35, classes=10, activation=None)
    initial = {weight.path: weight.numpy().copy() for weight in model.weights}
    model.compile(keras.optimizers.SGD(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  jit_compile=False)
    history = model.fit(*data, batch_size=rows, shuffle=False, verbose=0).history
    fit = {"optimizer": {"rule": "sgd", "learning_rate": 0.01}, "loss": "sparse_categorical_crossentropy",
           "batch_size": rows, "epochs": 1, "shards": 1, "data": data, "values": initial}
    answer, = muster.evaluate([dict(case("mobilenet_v2", alpha=0.35, input_shape=[*size, 3], classes=10), fit=fit)],
                              "models")
    report.values("loss of mobilenet_v2", answer["history"]["loss"], history["loss"], 1e-5, 1)
    for weight in model.weights:
        expected, got = weight.numpy(), np.reshape(answer["values"][weight.path], weight.shape)
        differs, moved = np.linalg.norm(got - expected), np.linalg.norm(expected - initial[weight.path])
        report.check(f"{weight.path} after a step", differs <= 0.05 * moved + 1e-5, got, expected)


def write_weights(model, path):
    """As keras.applications' files are: those of Keras 2, whose names of weights end in ":0"."""
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [layer.name.encode() for layer in model.layers]
        for layer in model.layers:
            group = file.create_group(layer.name)
            names = [f"{layer.name}/{weight.name}:0" for weight in layer.weights]
            group.attrs["weight_names"] = [name.encode() for name in names]
            for name, weight in zip(names, layer.weights):
                group.create_dataset(name, data=weight.numpy())


def train(folder, rate, *options):
    """What `muster train` makes of the data with all layers but the last one frozen."""
    command = [os.environ["MUSTER"], "train", "--model", "mobilenet_v2:0.35", "--load", "top.h5", "--data", "npz:data.npz",
               "--optimizer", "sgd", "--learning-rate", str(rate), "--batch-size", "8", "--no-shuffle", "--shards", "1",
               "--devices", "cpu:1", "--seed", "4", "--save", "out.npz", *options]
    output = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    with np.load(os.path.join(folder, "out.npz")) as file:
        return output, {name: file[name] for name in file.files if file[name].dtype == np.float32}


def transfer(report):
    """A network without its top from such a file, frozen, under a new top of two outputs."""
    size, rows = (64, 64), 24
    keras.utils.clear_session()
    keras.utils.set_random_seed(5)
    base = mobilenet_v2(size, 0.35, top=False)
    for weight in base.weights:
        if weight.path.endswith("moving_variance"):
            weight.assign(random.uniform(0.05, 0.3, weight.shape))
    base.trainable = False
    data = {"x": random.uniform(-1, 1, (rows, *size, 3)).astype(np.float32), "y": random.randint(0, 2, rows)}
    with tempfile.TemporaryDirectory() as folder:
        write_weights(base, os.path.join(folder, "top.h5"))
        np.savez(os.path.join(folder, "data.npz"), **data)
        output, initial = train(folder, 1e-30, "--freeze", "*,-predictions", "--steps", "1")
        output, trained = train(folder, 0.1, "--freeze", "*,-predictions", "--epochs", "1")
    report.check("layers that the file lacks", "\nnot in the file, as they were: predictions\n" in output, output, "")
    for weight in base.weights:
        report.check(f"{weight.path} from a file without top", np.array_equal(trained[weight.path], weight.numpy()),
                     trained[weight.path], weight.numpy())
    model = keras.Sequential([base, keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(2)])
    model.layers[-1].set_weights([initial["predictions/kernel"], initial["predictions/bias"]])
    model.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(data["x"], data["y"], batch_size=8, shuffle=False, verbose=0)
    for weight, name in zip(model.layers[-1].weights, ("kernel", "bias")):
        report.values(f"{name} of a new top after an epoch", trained[f"predictions/{name}"].ravel(), weight.numpy().ravel(), 1e-3, 1e-3)


def muster_command(folder, *arguments):
    subprocess.run([os.environ["MUSTER"], *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def there_and_back(report):
    """EfficientNetB0 from a file of Keras: what it predicts, a training here, and Keras again."""
    size, rows = 64, 8
    keras.utils.clear_session()
    keras.utils.set_random_seed(7)
    model = keras.applications.EfficientNetB0(weights=None, input_shape=(size, size, 3), classes=4)
    for weight in model.weights:
        if weight.path.endswith("moving_variance"):
            weight.assign(random.uniform(0.5, 1.5, weight.shape))
    pixels = random.randint(0, 256, (rows, size, size, 3)).astype(np.float32)
    data = {"x": pixels, "y": random.randint(0, 4, rows)}
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "there.keras"))
        np.savez(os.path.join(folder, "data.npz"), **data)
        fresh = os.path.join(folder, "out.npy")
        predict = ("--data", "npz:data.npz", "--out", "out.npy", "--devices", "cpu:1")
        muster_command(folder, "predict", "--load", "there.keras", *predict)
        report.values("predictions of efficientnetb0", np.load(fresh).ravel(), model.predict(pixels, verbose=0).ravel(), 1e-4, 1e-2)
        muster_command(folder, "train", "--load", "there.keras", "--data", "npz:data.npz", "--steps", "2", "--batch-size", "4",
                       "--optimizer", "sgd", "--learning-rate", "0.01", "--save", "back.keras")
        muster_command(folder, "predict", "--load", "back.keras", *predict)
        back = keras.models.load_model(os.path.join(folder, "back.keras"))
        report.values("predictions of efficientnetb0 that was trained here", np.load(fresh).ravel(),
                      back.predict(pixels, verbose=0).ravel(), 1e-4, 1e-2)
        moved = max(float(np.abs(a - b).max()) for a, b in zip(model.get_weights(), back.get_weights()))
        report.check("efficientnetb0 was trained", moved > 1e-4, moved, "another weight")


def main():
    report = muster.Report()
    shapes(report)
    predictions(report)
    training(report)
    transfer(report)
    there_and_back(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
