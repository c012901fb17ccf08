"""Every setting of every optimizer of Keras, in a compiled file, through `muster convert`: Keras finds it again, or a
warning has said that the optimizer, or the setting, is left out."""

import inspect
import os
import subprocess
import sys
import tempfile

import muster

muster.tensorflow()
import keras  # noqa: E402

MUSTER = os.environ["MUSTER"]
OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Nadam", "Ftrl", "Adadelta", "Adamax", "Adafactor", "Lion",
              "Muon", "Lamb")
VALUES = {
    "amsgrad": [True], "beta": [0.2], "beta_1": [0.0, 0.8], "beta_2": [0.0, 0.95], "centered": [True],
    "clipnorm": [1.5], "clipvalue": [0.5], "ema_overwrite_frequency": [5], "epsilon": [0.0, 1e-3],
    "global_clipnorm": [2.5], "gradient_accumulation_steps": [3], "initial_accumulator_value": [0.0, 0.3],
    "l1_regularization_strength": [0.2], "l2_regularization_strength": [0.2],
    "l2_shrinkage_regularization_strength": [0.2], "learning_rate": [0.0, 0.3], "learning_rate_power": [0.0, -0.3],
    "loss_scale_factor": [8.0], "momentum": [0.0, 0.7], "nesterov": [True], "rho": [0.0, 0.5], "use_ema": [True],
    "weight_decay": [0.0, 0.1],
}
REFUSED = ("Adadelta", "Adamax", "Adafactor", "Lion", "Muon", "Lamb")


def close(a, b):
    return abs(a - b) < 1e-8 if isinstance(a, float) and isinstance(b, float) else a == b


def check(folder, name, settings):
    before, after = (os.path.join(folder, file) for file in ("before.keras", "after.keras"))
    optimizer = getattr(keras.optimizers, name)(**settings)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(optimizer, "mse")
    model.save(before)
    process = subprocess.run([MUSTER, "convert", before, after, "--overwrite"], capture_output=True, text=True)
    if process.returncode:
        return process.stderr.strip()
    if "warning" in process.stderr:
        told = name in REFUSED or settings.keys() & {"ema_overwrite_frequency", "loss_scale_factor"}
        return None if told else process.stderr.strip()
    wanted, got = optimizer.get_config(), keras.models.load_model(after).optimizer.get_config()
    differs = {key: (value, got.get(key)) for key, value in wanted.items() if not close(value, got.get(key))}
    differs.pop("name", None)
    return differs or None


def main():
    bad, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in OPTIMIZERS:
            known = inspect.signature(getattr(keras.optimizers, name).__init__).parameters
            settings = [{}] + [{key: value} for key in VALUES.keys() & known.keys() for value in VALUES[key]]
            for one in settings[:1] if name in REFUSED else settings:
                also = {"use_ema": True} if "ema_overwrite_frequency" in one else {}
                wrong = check(folder, name, {**also, **one})
                bad += [f"{name} {one}: {wrong}"] if wrong else []
                count += 1
    print("\n".join(bad) or f"ok: {count} settings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
