"""Texts become the numbers that Keras' TextVectorization gives them, with the same vocabulary, on random texts of UTF-8
and, where they are installed, on the files of `fortune`; padded and cut in front as by Keras' pad_sequences. The text
CNN learns from them as in Keras: from the same initial values, loss and accuracy of each epoch are Keras'."""

import json
import os
import re
import subprocess
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_tokens")
FORTUNES = "/usr/share/games/fortunes"
STANDARDIZE = ["lower_and_strip_punctuation", "lower", "strip_punctuation", None]
SPLIT = ["whitespace", "character"]
LETTERS = [chr(c) for c in range(1, 128)] + list("éÉßİıΑσςЖж“”—’\u00a0\u2003\u200b中文🙂\ufeff")


def ours(path, standardize, split, max_tokens, length, pad_front=0, truncate_front=0):
    output = subprocess.run(
        [PROGRAM, path, *map(str, (standardize, split, max_tokens, length, pad_front, truncate_front))],
        check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [bytes(token).decode() for token in json.loads(output[0])], np.array([json.loads(row) for row in output[1:]])


def layer(texts, standardize, split, max_tokens, length):
    vectorize = keras.layers.TextVectorization(
        max_tokens=max_tokens or None, standardize=STANDARDIZE[standardize], split=SPLIT[split],
        output_sequence_length=length or None)
    vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(64))
    return vectorize


def make_text(random, words):
    """Words that come back, between white space and other bytes."""
    text = ""
    for _ in range(random.integers(0, 40)):
        text += words[int(random.integers(len(words)) * random.random())]
        text += LETTERS[random.integers(len(LETTERS))] if random.integers(4) == 0 else " "
    return text


def compare(report, name, path, texts, standardize, split, max_tokens, length):
    vectorize = layer(texts, standardize, split, max_tokens, length)
    words, numbers = ours(path, standardize, split, max_tokens, length)
    expected = vectorize.get_vocabulary()
    report.check(f"{name}: vocabulary", words == expected, words[:20], expected[:20])
    expected = vectorize(tf.constant(texts)).numpy()
    report.check(f"{name}: numbers", np.array_equal(numbers, expected), numbers, expected)


def compare_front(report, name, path, texts, length, pad, truncate):
    """TextVectorization, whose rows of numbers have any length, followed by pad_sequences."""
    vectorize = layer(texts, 0, 0, 0, 0)
    sequences = [[n for n in vectorize(tf.constant([text])).numpy()[0] if n] for text in texts]
    expected = keras.utils.pad_sequences(sequences, length, padding=("post", "pre")[pad],
                                         truncating=("post", "pre")[truncate])
    _, numbers = ours(path, 0, 0, 0, length, pad, truncate)
    report.check(f"{name}: padded in front {pad}, cut {truncate}", np.array_equal(numbers, expected), numbers, expected)


def write(folder, texts):
    os.makedirs(os.path.join(folder, "class"))
    for i, text in enumerate(texts):
        with open(os.path.join(folder, "class", f"{i:04}"), "wb") as file:
            file.write(text.encode())


def check_random(report, parent):
    random = np.random.default_rng(1)
    for case in range(12):
        words = ["".join(LETTERS[i] for i in random.integers(0, len(LETTERS), random.integers(1, 6))) for _ in range(60)]
        texts = [make_text(random, words) for _ in range(40)]
        folder = os.path.join(parent, f"random{case}")
        write(folder, texts)
        compare(report, f"random {case}", folder, texts, case % 4, case // 4 % 2, [0, 3, 30][case % 3], [0, 7, 50][case // 4])
        if case < 4:
            compare_front(report, f"random {case}", folder, texts, 12, case % 2, case // 2)


def read_fortunes():
    texts = []
    for name in sorted(os.listdir(FORTUNES)):
        if name.endswith((".dat", ".u8")) or os.path.isdir(os.path.join(FORTUNES, name)):
            continue
        with open(os.path.join(FORTUNES, name), "rb") as file:
            texts += [part for part in re.split(rb"(?m)^%[ \t\v\f\r]*(?:\n|\Z)", file.read()) if part.strip()]
    return texts


def check_fortunes(report):
    if not os.path.isdir(FORTUNES):
        return
    texts = read_fortunes()
    for max_tokens in (0, 5000):
        compare(report, f"fortunes, {max_tokens}", FORTUNES, texts, 0, 0, max_tokens, 40)


# ---- the text CNN ----

LENGTH, CLASSES, EPOCHS = 40, 5, 10
TOLERANCE = 2e-4  # of a loss in 200 steps of f32; measured: 3e-6 in training, 2e-5 in validation


def text_cnn(vocabulary):
    texts = x = keras.Input((LENGTH,), dtype="int32")
    for layer in (keras.layers.Embedding(vocabulary, 7),
                  keras.layers.Conv1D(64, 5, activation="relu"), keras.layers.MaxPooling1D(2),
                  keras.layers.Conv1D(32, 3, activation="relu"), keras.layers.MaxPooling1D(2),
                  keras.layers.Flatten(), keras.layers.Dense(CLASSES)):
        x = layer(x)
    return keras.Model(texts, x)


def make_topics(parent):
    """Texts with one word in four of their topic; the numbers that Muster makes of them, and their topics."""
    random = np.random.default_rng(5)
    words = [f"w{i}" for i in range(400)]
    for topic in range(CLASSES):
        os.makedirs(os.path.join(parent, "topics", str(topic)))
        for i in range(160):
            own, common = words[20 * topic:20 * topic + 20], words[100:]
            text = [random.choice(own if random.random() < 0.25 else common) for _ in range(random.integers(10, 50))]
            with open(os.path.join(parent, "topics", str(topic), f"{i:03}"), "w") as file:
                file.write(" ".join(text))
    vocabulary, numbers = ours(os.path.join(parent, "topics"), 0, 0, 0, LENGTH)
    order = random.permutation(len(numbers))
    return len(vocabulary), np.int32(numbers[order]), np.int32(np.repeat(np.arange(CLASSES), 160)[order])


def check_training(report, parent):
    vocabulary, texts, topics = make_topics(parent)
    keras.utils.clear_session()
    keras.utils.set_random_seed(3)
    model = text_cnn(vocabulary)
    initial = {weight.path: weight.numpy() for weight in model.weights}
    model.compile(keras.optimizers.Nadam(0.001), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"], jit_compile=False)
    parts = [texts[:640], topics[:640]], [texts[640:], topics[640:]]
    history = model.fit(*parts[0], batch_size=32, epochs=EPOCHS, shuffle=False, verbose=0,
                        validation_data=parts[1]).history
    fit = {"optimizer": {"rule": "nadam", "learning_rate": 0.001}, "loss": "sparse_categorical_crossentropy",
           "accuracy": True, "data": parts[0], "validation": parts[1], "batch_size": 32, "epochs": EPOCHS, "shards": 1,
           "values": initial}
    answer, = muster.evaluate([{"application": "text_cnn", "fit": fit, "options": {
        "vocabulary_size": vocabulary, "input_shape": [LENGTH], "classes": CLASSES}}], "models")
    names = list(answer["values"])
    report.check("text CNN, names of weights", names == list(initial), names, list(initial))
    for key in ("loss", "val_loss"):
        report.values(f"text CNN, {key}", answer["history"][key], history[key], TOLERANCE, 0.1)
    for key, rows in (("accuracy", 640), ("val_accuracy", 160)):  # one example may lie on the other side
        good = np.allclose(answer["history"][key], history[key], rtol=0, atol=1.5 / rows)
        report.check(f"text CNN, {key}", good, answer["history"][key], history[key])
    report.check("text CNN has learnt", history["accuracy"][-1] > 0.9, history["accuracy"], 0.9)


if __name__ == "__main__":
    report = muster.Report()
    with tempfile.TemporaryDirectory() as parent:
        check_random(report, parent)
        check_training(report, parent)
    check_fortunes(report)
    raise SystemExit(report.finish())
