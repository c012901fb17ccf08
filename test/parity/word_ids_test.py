"""Archives of numbers of words, written by NumPy as Keras' reuters.npz and imdb.npz are, in every protocol of pickles
that it can write: Muster gives the texts and labels of load_data, in its order, with its options, and nothing of a pickle
that calls for anything is executed."""

import io
import json
import os
import pickle
import subprocess
import tempfile
import zipfile

import muster
import numpy as np

muster.tensorflow()
from keras.src.datasets import imdb, reuters  # noqa: E402

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_word_ids")
REUTERS = 11228


def run(path, test, num_words=0, skip_top=0, maxlen=0, test_split=0.2, seed=113):
    return subprocess.run([PROGRAM, path, *map(str, (int(test), num_words, skip_top, maxlen, test_split, seed))],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ours(path, test, **options):
    done = run(path, test, **options)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row[1] for row in rows], [row[0] for row in rows]


def make_texts(random, n, longest=30, words=40000):
    texts = np.empty(n, object)
    for i in range(n):
        texts[i] = [int(w) for w in random.integers(1, words, random.integers(0, longest))]
    return texts


def check(report, name, module, path, **options):
    module.get_file = lambda fname, **_: fname
    for test, (texts, labels) in enumerate(module.load_data(path=path, **options)):
        got = ours(path, test, **options)
        expected = [[int(w) for w in text] for text in texts], [int(label) for label in labels]
        report.check(f"{name}, {options}, {'test' if test else 'train'}", got == expected,
                     (len(got[0]), got[0][:2]), (len(expected[0]), expected[0][:2]))


def check_options(report, folder):
    random = np.random.default_rng(1)
    path = os.path.join(folder, "reuters.npz")
    np.savez(path, x=make_texts(random, REUTERS), y=random.integers(0, 46, REUTERS))
    check(report, "reuters", reuters, path)
    sizes = [len(ours(path, test)[0]) for test in (False, True)]
    report.check("reuters, sizes", sizes == [8982, 2246], sizes, [8982, 2246])
    path = os.path.join(folder, "some.npz")
    np.savez_compressed(path, x=make_texts(random, 500), y=random.integers(0, 46, 500))
    for options in ({"num_words": 1000}, {"skip_top": 50}, {"maxlen": 17}, {"test_split": 0.37}, {"seed": 7},
                    {"num_words": 20000, "skip_top": 3, "maxlen": 25, "test_split": 0.5, "seed": 2**32 - 1}):
        check(report, "some", reuters, path, **options)
    path = os.path.join(folder, "imdb.npz")
    np.savez(path, x_train=make_texts(random, 300), y_train=random.integers(0, 2, 300),
             x_test=make_texts(random, 200, words=90000), y_test=random.integers(0, 2, 200))
    for options in ({}, {"num_words": 500, "maxlen": 20}):
        check(report, "imdb", imdb, path, **options)


def write_pickles(path, **arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, (shape, data) in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": shape})
            archive.writestr(name + ".npy", file.getvalue() + data)


class Caller:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def check_pickles(report, folder):
    random = np.random.default_rng(2)
    texts, path = make_texts(random, 100), os.path.join(folder, "p.npz")
    texts[3] = texts[5]  # one list twice
    texts[4] = [2**31 - 4, 0, 255, 256, 65535, 65536]
    labels = np.empty(100, object)
    labels[:] = [int(n) for n in random.integers(0, 9, 100)]
    for protocol in (3, 4, 5):
        write_pickles(path, x=((100,), pickle.dumps(texts, protocol)), y=((100,), pickle.dumps(labels, protocol)))
        check(report, f"protocol {protocol}", reuters, path, num_words=2**31 - 1)
    called = os.path.join(folder, "called")
    texts[7] = Caller(called)
    write_pickles(path, x=((100,), pickle.dumps(texts, 4)), y=((100,), pickle.dumps(labels, 4)))
    done = run(path, False)
    report.check("nothing is called", done.returncode == 1 and "never called" in done.stderr and
                 not os.path.exists(called), done.stderr, "an error")


if __name__ == "__main__":
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        check_options(report, folder)
        check_pickles(report, folder)
    raise SystemExit(report.finish())
