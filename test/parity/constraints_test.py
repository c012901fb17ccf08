"""Training with constraints: models of Keras with each of its constraints, on all kinds of weights, are trained by Keras
and, from the file that Keras saves, by Muster. Losses of 20 steps, the weights after them, and the constraints in the file
that Muster saves must agree."""

import csv
import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402
from keras import constraints, layers  # noqa: E402

STEPS, ROWS = 20, 12
TOLERANCE = 2e-4  # relative, of numbers of at least 0.1: sums of squares are added in another order
random = np.random.RandomState(3)

# of each constraint: for kernels of matrices, for those of convolutions, for vectors
CONSTRAINTS = {
    "NonNeg": (constraints.NonNeg(), constraints.NonNeg(), constraints.NonNeg()),
    "MaxNorm": (constraints.MaxNorm(0.5), constraints.MaxNorm(0.4, axis=[0, 1, 2]), constraints.MaxNorm(0.3)),
    "UnitNorm": (constraints.UnitNorm(axis=1), constraints.UnitNorm(axis=[0, 1]), constraints.UnitNorm(axis=-1)),
    "MinMaxNorm": (constraints.MinMaxNorm(0.2, 0.6, rate=0.7), constraints.MinMaxNorm(0.1, 0.3, axis=[0, 1, 2]),
                   constraints.MinMaxNorm(0.5, rate=0.5, axis=None)),
}


def words(matrix, kernel, vector):
    return keras.Sequential([
        keras.Input((5,), dtype="int32"),
        layers.Embedding(9, 4, embeddings_constraint=matrix),
        layers.LSTM(3, kernel_constraint=matrix, recurrent_constraint=matrix, bias_constraint=vector),
        layers.LayerNormalization(gamma_constraint=vector, beta_constraint=vector),
        layers.Dense(2, kernel_constraint=matrix, bias_constraint=vector)])


def pictures(matrix, kernel, vector):
    return keras.Sequential([
        keras.Input((6, 6, 2)),
        layers.Conv2D(3, 3, kernel_constraint=kernel, use_bias=False),  # the next layer takes a bias away again
        layers.BatchNormalization(gamma_constraint=vector, beta_constraint=vector),
        layers.DepthwiseConv2D(2, activation="tanh", depthwise_constraint=kernel),
        layers.SeparableConv2D(4, 2, depthwise_constraint=kernel, pointwise_constraint=kernel,
                               bias_constraint=vector),
        layers.Flatten(),
        layers.Dense(2, kernel_constraint=matrix, bias_constraint=vector)])


def optimizer_of(make):
    return keras.optimizers.Adam(0.02) if make is words else keras.optimizers.SGD(0.003, momentum=0.9)


def inputs_of(make):
    if make is words:
        return random.randint(0, 8, (ROWS, 5)).astype(np.int32)  # row 8 of the table never comes up
    return random.normal(0, 1, (ROWS, 6, 6, 2)).astype(np.float32)


def constraints_in(model):
    """All constraints of the layers' configurations, in order."""
    found = []

    def visit(config):
        for key, value in sorted(config.items()):
            if key.endswith("_constraint"):
                known = None if value is None else keras.constraints.deserialize(value)
                found.append((key, None if known is None else (type(known).__name__, str(known.get_config()))))
            elif isinstance(value, dict):
                visit(value)

    for one in model.layers:
        visit(one.get_config())
    return found


def muster_trains(folder):
    command = [os.environ["MUSTER"], "train", "--load", "there.keras", "--data", "npz:data.npz", "--epochs", str(STEPS),
               "--batch-size", str(ROWS), "--no-shuffle", "--history", "history.csv", "--save", "back.keras", "--devices",
               "cpu:1", "--shards", "1"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    with open(os.path.join(folder, "history.csv")) as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def compare(report, name, make, chosen):
    keras.utils.set_random_seed(7)
    model = make(*chosen)
    model.compile(optimizer=optimizer_of(make), loss="mse", run_eagerly=make is pictures)
    x, y = inputs_of(make), random.normal(0, 1, (ROWS, 2)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "there.keras"))
        np.savez(os.path.join(folder, "data.npz"), x_train=x, y_train=y)
        losses = muster_trains(folder)
        expected = [float(model.train_on_batch(x, y)) for _ in range(STEPS)]
        report.values(f"{name}: losses", losses, np.array(expected), TOLERANCE, 0.1)
        back = keras.models.load_model(os.path.join(folder, "back.keras"), compile=False)
    for ours, theirs in zip(back.weights, model.weights):
        report.values(f"{name}: {theirs.path}", ours.numpy().ravel().tolist(), theirs.numpy(), TOLERANCE, 0.1)
    had, has = constraints_in(model), constraints_in(back)
    report.check(f"{name}: the file has the constraints", has == had and any(c for _, c in had), has, had)


def main():
    report = muster.Report()
    for name, chosen in CONSTRAINTS.items():
        for make in (words, pictures):
            compare(report, f"{name}, {make.__name__}", make, chosen)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
