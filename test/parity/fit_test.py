"""Keras' own fit beside mst_fit, from the same weights and rows: weights afterwards, history and evaluate.

Embeddings, whose rows come up several times in a batch and some never, with every optimizer, clipping, a table that two
inputs share, and a penalty that makes the gradient dense; weights of classes and examples; several outputs."""

import json
import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

WORDS, LENGTH, ROWS, CLASSES, BATCH, EPOCHS = 9, 5, 24, 3, 8, 2
TOLERANCE, FLOOR = 1e-5, 0.1
random = np.random.RandomState(7)
TEXT = random.randint(0, WORDS - 2, (ROWS, LENGTH)).astype(np.int32)  # two words never come up
MORE = random.randint(0, 3, (ROWS, LENGTH)).astype(np.int32)
NUMBERS = random.normal(0, 1, (ROWS, 4)).astype(np.float32)
LABELS = random.randint(0, CLASSES, ROWS).astype(np.int32)
TARGETS = random.normal(0, 1, (ROWS, 1)).astype(np.float32)
WEIGHTS = random.uniform(0, 2, ROWS).astype(np.float32)

# name: rule, class, members of Muster, arguments of Keras where they have other names
OPTIMIZERS = {
    "sgd": ("sgd", "SGD", {}),
    "momentum": ("sgd", "SGD", {"momentum": 0.9}),
    "nesterov": ("sgd", "SGD", {"momentum": 0.9, "nesterov": True}),
    "adagrad": ("adagrad", "Adagrad", {}),
    "rmsprop": ("rmsprop", "RMSprop", {"epsilon": 1e-3}),
    "rmsprop with momentum": ("rmsprop", "RMSprop", {"epsilon": 1e-3, "momentum": 0.5}),
    "centered rmsprop": ("rmsprop", "RMSprop", {"epsilon": 1e-3, "momentum": 0.5, "centered": True}),
    "adam": ("adam", "Adam", {"epsilon": 1e-4}),
    "amsgrad": ("adam", "Adam", {"epsilon": 1e-4, "amsgrad": True}),
    "adamw": ("adamw", "AdamW", {"epsilon": 1e-4, "weight_decay": 0.01}),
    "nadam": ("nadam", "Nadam", {"epsilon": 1e-4}),
    "ftrl": ("ftrl", "Ftrl", {"l1_strength": 0.001, "l2_strength": 0.002, "l2_shrinkage": 0.003}),
}
KERAS_NAMES = {"clip_value": "clipvalue", "clip_norm": "clipnorm", "clip_global_norm": "global_clipnorm",
               "l1_strength": "l1_regularization_strength", "l2_strength": "l2_regularization_strength",
               "l2_shrinkage": "l2_shrinkage_regularization_strength"}
CLIPS = [{}, {"clip_value": 0.01}, {"clip_norm": 0.02}, {"clip_global_norm": 0.05}]


def layer(kind, src, **options):
    return {"type": kind, "options": options, "src": src}


def embedding_model():
    """One table."""
    text = keras.Input((LENGTH,), dtype="int32", name="text")
    x = keras.layers.Embedding(WORDS, 4, name="words")(text)
    out = keras.layers.Dense(CLASSES, name="out")(keras.layers.Flatten()(x))
    layers = [{"type": "input", "options": {"shape": [LENGTH], "dtype": "i32", "name": "text"}},
              layer("embedding", [0], input_dim=WORDS, output_dim=4, name="words"), layer("flatten", [1]),
              layer("dense", [2], units=CLASSES, name="out")]
    return keras.Model(text, out), {"layers": layers}, [TEXT], [LABELS]


def shared_model():
    """A table that two inputs share; the dense layer maps the last axis of [n, words, 4]."""
    text, more = (keras.Input((LENGTH,), dtype="int32", name=name) for name in ("text", "more"))
    table = keras.layers.Embedding(WORDS, 4, name="words")
    joined = keras.layers.Concatenate(axis=1)([table(text), table(more)])
    mapped = keras.layers.Dense(2, activation="tanh", name="mapped")(joined)
    out = keras.layers.Dense(CLASSES, name="out")(keras.layers.Flatten()(mapped))
    inputs = [{"type": "input", "options": {"shape": [LENGTH], "dtype": "i32", "name": name}}
              for name in ("text", "more")]
    layers = [*inputs, layer("embedding", [0], input_dim=WORDS, output_dim=4, name="words"), {"share": 2, "src": [1]},
              layer("concatenate", [2, 3], axis=1), layer("dense", [4], units=2, activation="tanh", name="mapped"),
              layer("flatten", [5]), layer("dense", [6], units=CLASSES, name="out")]
    return keras.Model([text, more], out), {"layers": layers}, [TEXT, MORE], [LABELS]


def dense_model():
    x = keras.Input((4,), name="x")
    out = keras.layers.Dense(CLASSES, name="out")(x)
    layers = [{"type": "input", "options": {"shape": [4], "name": "x"}}, layer("dense", [0], units=CLASSES, name="out")]
    return keras.Model(x, out), {"layers": layers}, [NUMBERS], [LABELS]


def two_outputs():
    x = keras.Input((4,), name="x")
    outputs = [keras.layers.Dense(1, name=name)(x) for name in ("a", "b")]
    layers = [{"type": "input", "options": {"shape": [4], "name": "x"}}, layer("dense", [0], units=1, name="a"),
              layer("dense", [0], units=1, name="b")]
    return keras.Model(x, outputs), {"layers": layers, "outputs": [1, 2]}, [NUMBERS], [TARGETS, 2 * TARGETS]


class Fits:
    """Pairs of a fit of Keras, which is made at once, and its case for Muster."""

    def __init__(self):
        self.names, self.cases, self.expected = [], [], []

    def add(self, name, make, rule, class_name, members, loss="sparse_categorical_crossentropy", keras_loss=None,
            class_weight=None, weights=None, target=None, loss_weights=None, measured=True):
        keras.utils.clear_session()
        model, case, inputs, labels = make()
        arguments = {KERAS_NAMES.get(key, key): value for key, value in members.items()}
        initial = {weight.path: np.float32(random.normal(0, 0.3, weight.shape)) for weight in model.weights}
        for weight in model.weights:
            weight.assign(initial[weight.path])
        model.compile(getattr(keras.optimizers, class_name)(learning_rate=0.05, **arguments),
                      keras_loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      loss_weights=loss_weights, run_eagerly=True)
        data = [tf.constant(array) for array in (*inputs, *labels)]
        x, y = data[:len(inputs)], data[len(inputs):]
        x, y = (x if len(x) > 1 else x[0]), (y if len(y) > 1 else y[0])
        rows = (x, y) if weights is None else (x, y, tf.constant(weights))
        history = model.fit(*rows[:2], sample_weight=None if weights is None else rows[2], batch_size=BATCH,
                            epochs=EPOCHS, shuffle=False, verbose=0, validation_data=rows if measured else None,
                            class_weight=class_weight)
        evaluated = {} if not measured else model.evaluate(
            *rows[:2], sample_weight=None if weights is None else rows[2], batch_size=BATCH, verbose=0, return_dict=True)
        given = [*inputs, *labels, *([] if weights is None else [weights])]
        fit = {"optimizer": {"rule": rule, "learning_rate": 0.05, **members}, "loss": loss, "data": given,
               "batch_size": BATCH, "epochs": EPOCHS, "values": initial,
               "sample_weights": weights is not None}
        if measured:
            fit["validation"] = given
        if class_weight:
            fit["class_weight"] = [class_weight[c] for c in range(CLASSES)]
        if target:
            fit["target"] = target
        self.names.append(name)
        self.cases.append({**case, "fit": fit})
        self.expected.append(({w.path: w.numpy() for w in model.weights}, history.history, evaluated))

    def compare(self, report):
        answers = muster.evaluate(self.cases, "models")
        for name, answer, (weights, history, evaluated) in zip(self.names, answers, self.expected):
            for key, value in weights.items():
                report.values(f"{name}: {key}", answer["values"][key], value, TOLERANCE, FLOOR)
            for key, value in history.items():
                if key in answer["history"]:
                    report.values(f"{name}: history of {key}", answer["history"][key], value, TOLERANCE, FLOOR)
                else:
                    report.check(f"{name}: history of {key}", False, json.dumps(answer["history"]), key)
            for key, value in evaluated.items():
                report.values(f"{name}: evaluate's {key}", [answer["evaluate"][key]], [value], TOLERANCE, FLOOR)


def main():
    report, fits = muster.Report(), Fits()
    for name, (rule, class_name, members) in OPTIMIZERS.items():
        for clip in CLIPS if name in ("momentum", "adam") else [{}]:  # sparse_test.py has them all
            fits.add(f"embedding, {name}, {clip}", embedding_model, rule, class_name, {**members, **clip},
                     measured=False)
        fits.add(f"shared embedding, {name}", shared_model, rule, class_name, members, measured=False)
    fits.add("class_weight", dense_model, "sgd", "SGD", {}, class_weight={0: 1.0, 1: 5.0, 2: 0.5})
    fits.add("sample_weight", dense_model, "sgd", "SGD", {}, weights=WEIGHTS)
    mse = "mean_squared_error"
    fits.add("two outputs", two_outputs, "sgd", "SGD", {}, mse, ["mse", "mse"], target=[
        {"loss": mse}, {"loss": mse, "weight": 0.25}], loss_weights=[1.0, 0.25])
    fits.add("two outputs, the second given", two_outputs, "sgd", "SGD", {}, mse, ["mse", "mae"], weights=WEIGHTS,
             target=[{}, {"loss": "mean_absolute_error", "weight": 0.25}], loss_weights=[1.0, 0.25])
    fits.compare(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
