"""Networks with several inputs and outputs in the command, beside Keras' functional API: the same file, rows, weights.

20 steps: history, evaluate, predictions and the weights afterwards; what Muster saves goes on in Keras with its losses.
All batches have one size: of others Keras takes the mean of their means for the loss of each output, though not for the
loss of all; Muster the mean over the examples."""

import csv
import json
import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

ROWS, TEST, BATCH, EPOCHS, CLASSES, WORDS, LENGTH = 100, 30, 20, 5, 3, 20, 4  # of 100 rows the last 20 are measured
TOLERANCE, FLOOR = 1e-5, 0.1
random = np.random.RandomState(3)


def rows(n):
    left = random.normal(0, 1, (n, 6)).astype(np.float32)
    words = random.randint(0, WORDS, (n, LENGTH)).astype(np.int64)
    score = left.sum(axis=1) + words.mean(axis=1) / 5
    return ({"left": left, "words": words},
            {"kind": np.digitize(score, [0, 3]).astype(np.int64), "price": (score[:, None] / 3).astype(np.float32),
             "sold": (score > 2).astype(np.float32)[:, None]})


def model(softmax):
    left = keras.Input((6,), name="left")
    words = keras.Input((LENGTH,), dtype="int32", name="words")
    flat = keras.layers.Flatten()(keras.layers.Embedding(WORDS, 3, name="table")(words))
    both = keras.layers.Dense(8, activation="tanh", name="both")(keras.layers.Concatenate(name="joined")([left, flat]))
    kind = keras.layers.Dense(CLASSES, activation="softmax" if softmax else None, name="kind")(both)
    price = keras.layers.Dense(1, name="price")(both)
    sold = keras.layers.Dense(1, activation="sigmoid", name="sold")(both)
    return keras.Model([left, words], [kind, price, sold])


def run(*arguments):
    result = subprocess.run([os.environ["MUSTER"], *arguments], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"muster {' '.join(arguments)}: {result.stderr}")
    return result.stdout


# name: a softmax at the end, losses and their weights for Keras, options of Muster: none, where the file says it
CLASSES_LOSS = "sparse_categorical_crossentropy"
LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
CASES = {
    "as the file says": (True, {"kind": CLASSES_LOSS, "price": "mse", "sold": "bce"},
                         {"kind": 1.0, "price": 0.5, "sold": 2.0}, []),
    "of logits": (False, {"kind": LOGITS, "price": "mae", "sold": "bce"}, None, []),
    "by options": (True, {"kind": CLASSES_LOSS, "price": "mean_absolute_error", "sold": "mse"},
                   {"kind": 0.25, "price": 0.5, "sold": 1.0},
                   ["--loss", "price=mae,sold=mse,kind=sparse-categorical-crossentropy", "--loss-weights",
                    "price=0.5,kind=0.25,sold=1"]),
}
METRICS = {"kind": ["accuracy"], "price": ["mean_absolute_error", "mean_squared_error"], "sold": ["binary_accuracy"]}
NAMED = ",".join(f"{output}={metric}" for output, metrics in METRICS.items() for metric in metrics)


def compare(report, name, folder, softmax, losses, weights, options):
    keras.utils.clear_session()
    keras.utils.set_random_seed(5)
    net = model(softmax)
    path, saved, data = (os.path.join(folder, file) for file in ("model.keras", "saved.keras", "data.npz"))
    (x, y), (more_x, more_y) = rows(ROWS), rows(TEST)
    np.savez(data, **{f"{key}_train": value for key, value in {**x, **y}.items()},
             **{f"{key}_test": value for key, value in {**more_x, **more_y}.items()})
    if options:  # the file has other losses
        net.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss="mse")
    else:
        net.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss=losses, loss_weights=weights)
    net.save(path)
    net.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss=losses, loss_weights=weights, metrics=METRICS)
    expected = net.fit(x, y, batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0, validation_split=0.2).history
    evaluated = net.evaluate(more_x, more_y, batch_size=TEST, verbose=0, return_dict=True)
    predicted = net.predict(more_x, verbose=0)
    history, predictions = os.path.join(folder, "history.csv"), os.path.join(folder, "predictions.npz")
    said = run("train", "--load", path, "--data", f"npz:{data}", "--batch-size", str(BATCH), "--epochs", str(EPOCHS),
               "--no-shuffle", "--validation-split", "0.2", "--validation-rows", "last", "--metrics", NAMED, "--json",
               "--history", history, "--evaluate", "--predict", predictions, "--save", saved, *options)
    done = json.loads(said.splitlines()[-1])
    with open(history, newline="") as file:
        table = list(csv.DictReader(file))
    for key, value in expected.items():
        report.values(f"{name}: history of {key}", [row[key] for row in table], value, TOLERANCE, FLOOR)
    for key, value in evaluated.items():
        report.values(f"{name}: evaluate's {key}", [done[f"test_{key}"]], [value], TOLERANCE, FLOOR)
    if not softmax:
        predicted[0] = tf.nn.softmax(predicted[0]).numpy()  # as the command shows logits
    with np.load(predictions) as arrays:
        for key, value in zip(("kind", "price", "sold"), predicted):
            report.values(f"{name}: predictions of {key}", arrays[key].ravel(), value, TOLERANCE, FLOOR)
    check_saved(report, name, saved, net, (more_x, more_y), data)


def write_records(path, rows):
    """Examples of tf.train with a feature for each name, among others."""
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(TEST):
            feature = {"id": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))}
            for key, array in rows.items():
                values = np.ravel(array[i])
                feature[key] = (tf.train.Feature(int64_list=tf.train.Int64List(value=values))
                                if array.dtype == np.int64 else
                                tf.train.Feature(float_list=tf.train.FloatList(value=values)))
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def check_saved(report, name, saved, net, test, data):
    """The file has weights, losses and their weights, for Keras and for Muster."""
    again = keras.models.load_model(saved)
    for here, there in zip(again.weights, net.weights):
        report.values(f"{name}: {there.path}", here.numpy().ravel(), there.numpy(), TOLERANCE, FLOOR)
    expected = net.evaluate(*test, batch_size=TEST, verbose=0, return_dict=True)["loss"]
    got = again.evaluate(*test, batch_size=TEST, verbose=0, return_dict=True)["loss"]
    report.values(f"{name}: loss of the file in Keras", [got], [expected], TOLERANCE, FLOOR)
    records = data[:-len(".npz")]
    write_records(f"{records}-test-00000-of-00001", {**test[0], **test[1]})
    for spec in (f"npz:{data}", f"tfrecord:{records}"):
        event = json.loads(run("evaluate", "--load", saved, "--data", spec, "--json").splitlines()[-1])
        report.values(f"{name}: loss of the file on {spec}", [event["test_loss"]], [expected], TOLERANCE, FLOOR)


def main():
    report = muster.Report()
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            compare(report, name, folder, *case)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
