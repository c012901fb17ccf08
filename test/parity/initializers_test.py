"""Initializers against Keras: the fans of shapes, and the distributions, by the Kolmogorov-Smirnov distance of two
samples of fixed seeds, their bounds and their deviations. The random numbers themselves are others."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402
from keras.src.initializers.random_initializers import compute_fans  # noqa: E402

SHAPES = [(200, 300), (3, 3, 40, 60), (30000,), (5, 50, 70), (3, 3, 2000, 1)]
SURE = 1.95  # samples of one distribution are farther apart once in a thousand times: sqrt(-log(0.001 / 2) / 2)

random = keras.initializers
KINDS = [  # Muster's name and members, Keras's initializer, whether bounded
    ("glorot_uniform", {}, random.GlorotUniform(seed=1), True),
    ("glorot_normal", {}, random.GlorotNormal(seed=1), True),
    ("he_uniform", {}, random.HeUniform(seed=1), True),
    ("he_normal", {}, random.HeNormal(seed=1), True),
    ("lecun_uniform", {}, random.LecunUniform(seed=1), True),
    ("lecun_normal", {}, random.LecunNormal(seed=1), True),
    ("random_uniform", {}, random.RandomUniform(seed=1), True),
    ("random_uniform", {"low": -1.0, "high": 3.0}, random.RandomUniform(-1.0, 3.0, seed=1), True),
    ("random_normal", {}, random.RandomNormal(seed=1), False),
    ("random_normal", {"mean": 2.0, "stddev": 0.5}, random.RandomNormal(2.0, 0.5, seed=1), False),
    ("truncated_normal", {}, random.TruncatedNormal(seed=1), True),
    ("truncated_normal", {"mean": 2.0, "stddev": 0.5}, random.TruncatedNormal(2.0, 0.5, seed=1), True),
    ("variance_scaling", {}, random.VarianceScaling(seed=1), True),
]
for scale in (0.5, 3.0):
    for fan, mode in enumerate(("fan_in", "fan_out", "fan_avg")):
        for kind, distribution in enumerate(("truncated_normal", "untruncated_normal", "uniform")):
            KINDS.append(("variance_scaling", {"scale": scale, "fan": fan, "distribution": kind},
                          random.VarianceScaling(scale, mode, distribution, seed=1), kind != 1))


def distance(a, b):
    """The largest difference of the two empirical distribution functions."""
    both = np.concatenate([a, b])
    return np.max(np.abs(np.searchsorted(np.sort(a), both, "right") / len(a) -
                         np.searchsorted(np.sort(b), both, "right") / len(b)))


def main():
    report = muster.Report()
    for name, members, other, bounded in KINDS:
        answers = muster.evaluate({"kind": "initializer", "name": name, "shape": list(shape), **members}
                                  for shape in SHAPES)
        for shape, answer in zip(SHAPES, answers):
            label = f"{name} {members} {shape}"
            report.values(f"{label}: fans", answer["fans"], compute_fans(shape), 0)
            got = np.array(answer["outputs"], np.float64)
            expected = np.array(other(shape), np.float64).ravel()
            far = distance(got, expected)
            report.check(f"{label}: distance", far < SURE * np.sqrt(2 / len(got)), far, 0)
            deviation = expected.std()
            # of n draws the deviation is known to 1 / sqrt(2 n) of itself at most
            tolerance = 5 / np.sqrt(len(got))
            report.values(f"{label}: deviation", [got.std()], [deviation], tolerance)
            if bounded:
                report.values(f"{label}: bounds", [got.min(), got.max()], [expected.min(), expected.max()],
                              4e-3, deviation)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
