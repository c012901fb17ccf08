"""Optimizers against Keras: the losses of 100 steps of the 784-500-10 network, from the same weights and batches.

    optimizers_test.py                               all of it, with the program of the build in $MUSTER_BUILD
    optimizers_test.py --make FILE.npz               initial weights and batches
    optimizers_test.py --losses FILE.npz             Keras's losses, one JSON line an optimizer
    optimizers_test.py --compare FILE.npz PROGRAM    runs PROGRAM FILE.npz, which prints the same lines, and compares

The network is relu(x W1 + b1) W2 + b2 with the mean of the sparse softmax cross entropy from logits; a loss is that of a batch
before its update. Compared relatively: the first losses within 1e-5, those after 100 steps within 1e-3.
Needs TensorFlow; exits 77 (skipped) where it is not installed.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

STEPS = 100
BATCH = 100
FIRST_TOLERANCE = 1e-5
LAST_TOLERANCE = 1e-3

# Name: (Keras class, arguments). test/parity/optimizers.c has the same list. The learning rates are low enough that a relu which
# rounding puts on the other side of 0 does not grow: weights changed by 1e-5 relative end within 1e-3, in Keras itself.
OPTIMIZERS = {
    "sgd": ("SGD", {"learning_rate": 0.02}),
    "momentum": ("SGD", {"learning_rate": 0.005, "momentum": 0.9}),
    "nesterov": ("SGD", {"learning_rate": 0.005, "momentum": 0.9, "nesterov": True}),
    "adagrad": ("Adagrad", {"learning_rate": 0.005}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.0001}),
    "rmsprop_centered_momentum": ("RMSprop", {"learning_rate": 0.0002, "rho": 0.95, "momentum": 0.5, "centered": True,
                                              "epsilon": 1e-3}),
    "adam": ("Adam", {"learning_rate": 0.0002}),
    "adam_amsgrad": ("Adam", {"learning_rate": 0.0002, "amsgrad": True}),
    "adamw": ("AdamW", {"learning_rate": 0.0002, "weight_decay": 0.01}),
    "nadam": ("Nadam", {"learning_rate": 0.0002}),
    "ftrl": ("Ftrl", {"learning_rate": 0.05, "l1_regularization_strength": 0.001, "l2_regularization_strength": 0.001,
                      "l2_shrinkage_regularization_strength": 0.0001, "beta": 0.1}),
}


def read_data(directory):
    """Pixels in [0, 1] and labels of Fashion-MNIST; where it is not installed, blobs around one centre a class."""
    random = np.random.RandomState(7)
    images = os.path.join(directory, "train-images-idx3-ubyte.gz")
    if not os.path.exists(images):
        labels = random.randint(0, 10, STEPS * BATCH)
        centres = random.uniform(0, 1, (10, 784))
        return np.clip(centres[labels] + random.normal(0, 0.3, (STEPS * BATCH, 784)), 0, 1).astype(np.float32), labels
    with gzip.open(images) as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(os.path.join(directory, "train-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    chosen = random.permutation(len(labels))[:STEPS * BATCH]
    return (pixels[chosen] / np.float32(255)).astype(np.float32), labels[chosen]


def make(path, directory):
    random = np.random.RandomState(11)
    images, labels = read_data(directory)

    def glorot(inputs, outputs):
        limit = np.sqrt(6 / (inputs + outputs))
        return random.uniform(-limit, limit, (inputs, outputs)).astype(np.float32)

    np.savez(path, weights1=glorot(784, 500), biases1=np.zeros(500, np.float32), weights2=glorot(500, 10),
             biases2=np.zeros(10, np.float32), images=images.reshape(STEPS, BATCH, 784),
             labels=labels.astype(np.int64).reshape(STEPS, BATCH))


def keras_losses(path):
    """Name of the optimizer: list of losses."""
    tf = muster.tensorflow()
    import keras
    data = np.load(path)
    losses = {}
    for name, (class_name, arguments) in OPTIMIZERS.items():
        variables = [tf.Variable(data[v]) for v in ("weights1", "biases1", "weights2", "biases2")]
        optimizer = getattr(keras.optimizers, class_name)(**arguments)
        optimizer.build(variables)

        @tf.function
        def step(images, labels, variables=variables, optimizer=optimizer):
            weights1, biases1, weights2, biases2 = variables
            with tf.GradientTape() as tape:
                hidden = tf.nn.relu(images @ weights1 + biases1)
                logits = hidden @ weights2 + biases2
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            optimizer.apply(tape.gradient(loss, variables), variables)
            return loss

        losses[name] = [float(step(tf.constant(x), tf.constant(y))) for x, y in zip(data["images"], data["labels"])]
    return losses


def muster_losses(program, path):
    output = subprocess.run([program, path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line["optimizer"]: line["losses"] for line in map(json.loads, output.splitlines())}


def compare(path, program):
    expected = keras_losses(path)
    got = muster_losses(program, path)
    failed = sorted(set(expected) ^ set(got))
    for name in failed:
        print(f"{name}: only one side has it")
    for name in expected:
        if name not in got:
            continue
        relative = np.abs(np.array(got[name]) - expected[name]) / np.abs(expected[name])
        good = relative[0] <= FIRST_TOLERANCE and relative[1] <= FIRST_TOLERANCE and relative[-1] <= LAST_TOLERANCE
        good = good and len(got[name]) == STEPS and np.all(np.isfinite(got[name]))
        print(f"{'ok    ' if good else 'FAILED'} {name:26} first {relative[0]:.1e}, second {relative[1]:.1e}, "
              f"largest {relative.max():.1e}, last {relative[-1]:.1e} "
              f"(loss {expected[name][0]:.4f} to {expected[name][-1]:.4f})")
        if not good:
            failed.append(name)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--make", metavar="FILE")
    task.add_argument("--losses", metavar="FILE")
    task.add_argument("--compare", nargs=2, metavar=("FILE", "PROGRAM"))
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of the gzipped IDX files")
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.make, arguments.data)
        return 0
    if arguments.losses:
        for name, losses in keras_losses(arguments.losses).items():
            print(json.dumps({"optimizer": name, "losses": losses}))
        return 0
    if arguments.compare:
        return compare(*arguments.compare)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "job.npz")
        make(path, arguments.data)
        return compare(path, os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_optimizers"))


if __name__ == "__main__":
    sys.exit(main())
