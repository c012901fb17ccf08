"""Networks that go there and back: Keras saves one, Muster trains it and saves it, and Keras trains on."""

import os

import keras
import muster
import numpy as np

KERAS, H5 = ".keras", ".h5"
FLOOR = 0.01  # losses below it are compared as if they were it


class Network:
    """A compiled model and the data that it trains on, STEPS times a batch. Losses may differ by TOLERANCE, relative, as
    roundings grow from step to step. DROPS: the network has random numbers, so that its losses are not compared."""

    def __init__(self, model, rows, labels, batch=4, steps=20, tolerance=1e-5, kinds=(KERAS, H5), drops=False):
        assert len(rows) % batch == 0 and steps * batch % len(rows) == 0
        self.model, self.rows, self.labels, self.batch, self.steps = model, rows, labels, batch, steps
        self.tolerance, self.kinds, self.drops = tolerance, kinds, drops

    def outputs(self, model):
        return np.asarray(model(self.rows, training=False))

    def fit(self):
        epochs = self.steps * self.batch // len(self.rows)
        return {"data": [self.rows, self.labels], "batch_size": self.batch, "epochs": epochs}

    def losses(self, model):
        """Those that train_on_batch gives, with the penalties; the rows come up in their order, again and again."""
        losses = []
        for begin in [step * self.batch % len(self.rows) for step in range(self.steps)]:
            at = slice(begin, begin + self.batch)
            model.reset_metrics()
            losses.append(float(np.ravel(model.train_on_batch(self.rows[at], self.labels[at]))[0]))
        return losses


def difference(got, expected, floor):
    got, expected = np.ravel(got).astype(np.float64), np.ravel(expected).astype(np.float64)
    return float(np.max(np.abs(got - expected) / np.maximum(np.abs(expected), floor)))


def compare(report, folder, name, network, say=lambda text: None):
    """Predictions and losses of Muster from each kind of file that Keras has saved, and from there back: predictions of
    Keras from Muster's file, and as many losses more."""
    model, tolerance = network.model, network.tolerance
    for kind in network.kinds:
        model.save(os.path.join(folder, "first" + kind))
    before, losses, more = network.outputs(model), network.losses(model), None
    for kind in network.kinds:
        first, second = os.path.join(folder, "first" + kind), os.path.join(folder, "second" + kind)
        label = f"{name}, {kind}"
        cases = [{"load": first, "predict": [network.rows], "fit": network.fit(), "save": second, "state": True},
                 {"load": second, "predict": [network.rows]}]
        here, saved = muster.evaluate(cases, "keras")
        report.values(f"{label}: predictions", here["predicted"], before, 1e-4, 1)
        back = keras.models.load_model(second)
        report.values(f"{label}: predictions of Muster's file", saved["predicted"], network.outputs(back), 1e-4, 1)
        if network.drops:
            continue
        report.values(f"{label}: losses", here["losses"], losses, tolerance, FLOOR)
        say(f"{label}: losses {losses[0]:.6g} to {losses[-1]:.6g}, differences at most "
            f"{difference(here['losses'], losses, FLOOR):.1e}; of predictions {difference(here['predicted'], before, 1):.1e}, "
            f"of those of Muster's file {difference(saved['predicted'], network.outputs(back), 1):.1e}")
        if kind == H5:  # Keras does not train on from there, not from its own files either
            continue
        more = more or network.losses(model)
        again = network.losses(back)
        report.values(f"{label}: losses of Keras from Muster's file", again, more, tolerance, FLOOR)
        say(f"{label}: Keras from Muster's file, losses {more[0]:.6g} to {more[-1]:.6g}, differences at most "
            f"{difference(again, more, FLOOR):.1e}")
