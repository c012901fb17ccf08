"""Trainings that go on in the other program: 20 steps after a checkpoint, both ways, for every optimizer.

TensorFlow 1's optimizers by their Saver: what one program saved the other restores, and both go on with the same batches.
One of tf.train.Checkpoint with a TensorFlow 1 optimizer. Keras 3's optimizers, of whose slots no TensorFlow checkpoint says
what they are of, by values: Muster's slots as TensorFlow reads them from its checkpoint are given to Keras and go on there,
and Keras' are written under Muster's names."""

import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

v1 = tf.compat.v1
HIDDEN, CLASSES, PIXELS, ROWS = 12, 10, 64, 60
BEFORE, AFTER = 7, 20
TOLERANCE, FLOOR = 1e-5, 0.1  # relative; weights are about 0.1
SHAPES = {"layer1/weights": (PIXELS, HIDDEN), "layer1/biases": (HIDDEN,),
          "layer2/weights": (HIDDEN, CLASSES), "layer2/biases": (CLASSES,)}
random = np.random.RandomState(5)
IMAGES = random.randint(0, 256, (ROWS, 8, 8)).astype(np.uint8)
LABELS = random.randint(0, CLASSES, ROWS).astype(np.uint8)
INITIAL = {name: (random.normal(0, 0.1, shape) if len(shape) > 1 else random.uniform(0, 0.1, shape)).astype(np.float32)
           for name, shape in SHAPES.items()}


def write_idx(folder):
    for part in ("train", "t10k"):
        with open(os.path.join(folder, f"{part}-images-idx3-ubyte"), "wb") as file:
            file.write(b"\0\0\x08\x03" + np.array(IMAGES.shape, ">i4").tobytes() + IMAGES.tobytes())
        with open(os.path.join(folder, f"{part}-labels-idx1-ubyte"), "wb") as file:
            file.write(b"\0\0\x08\x01" + np.array(LABELS.shape, ">i4").tobytes() + LABELS.tobytes())


def train(data, folder, steps, options):
    """STEPS more steps of Muster in FOLDER; a step has all rows, so that their order does not count. What it said."""
    run = subprocess.run([os.environ["MUSTER"], "train", "--data", f"idx:{data}", "--hidden-units", str(HIDDEN),
                          "--batch-size", str(ROWS), "--steps", str(steps), "--checkpoint-dir", folder, "--shards", "1",
                          "--devices", "cpu:1/1", *options], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return run.stdout + run.stderr


def without_slots(said):
    """Whether a slot of a variable was missing in the checkpoint that a training went on from."""
    return any("layer" in line for line in said.splitlines() if line.startswith("not in the file"))


def weights_in(folder):
    reader = tf.train.load_checkpoint(folder)
    return {name: reader.get_tensor(name) for name in SHAPES}


def loss_of(weights):
    x = tf.constant(IMAGES.reshape(ROWS, PIXELS), tf.float32) / 255
    hidden = tf.nn.relu(x @ weights["layer1/weights"] + weights["layer1/biases"])
    logits = hidden @ weights["layer2/weights"] + weights["layer2/biases"]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS.astype(np.int64), logits=logits))


def check(report, name, got, expected):
    for key in SHAPES:
        report.values(f"{name}: {key}", got[key].ravel().tolist(), expected[key], TOLERANCE, FLOOR)


# ---- TensorFlow 1: name, optimizer of a learning rate, options of Muster

def rate(step):
    return v1.train.exponential_decay(0.05, step, 5, 0.8)


SCHEDULE = ["--learning-rate", "0.05", "--schedule", "exponential", "--decay-steps", "5", "--decay-rate", "0.8"]
V1 = {
    "sgd": (lambda step: v1.train.GradientDescentOptimizer(0.1), ["--optimizer", "sgd", "--learning-rate", "0.1"]),
    "momentum": (lambda step: v1.train.MomentumOptimizer(0.05, 0.9),
                 ["--optimizer", "momentum", "--learning-rate", "0.05", "--momentum", "0.9"]),
    "nesterov": (lambda step: v1.train.MomentumOptimizer(0.05, 0.8, use_nesterov=True),
                 ["--optimizer", "momentum", "--learning-rate", "0.05", "--momentum", "0.8", "--nesterov"]),
    "momentum with a schedule": (lambda step: v1.train.MomentumOptimizer(rate(step), 0.9),
                                 ["--optimizer", "momentum", "--momentum", "0.9", *SCHEDULE]),
    "nesterov with a schedule": (lambda step: v1.train.MomentumOptimizer(rate(step), 0.9, use_nesterov=True),
                                 ["--optimizer", "momentum", "--momentum", "0.9", "--nesterov", *SCHEDULE]),
    "adagrad": (lambda step: v1.train.AdagradOptimizer(0.05),
                ["--optimizer", "adagrad", "--learning-rate", "0.05", "--epsilon", "0"]),
    "rmsprop": (lambda step: v1.train.RMSPropOptimizer(0.002, 0.9, epsilon=1e-3),
                ["--optimizer", "rmsprop", "--learning-rate", "0.002", "--epsilon", "1e-3"]),
    "rmsprop with momentum": (lambda step: v1.train.RMSPropOptimizer(0.001, 0.9, momentum=0.5, epsilon=1e-3),
                              ["--optimizer", "rmsprop", "--learning-rate", "0.001", "--momentum", "0.5",
                               "--epsilon", "1e-3"]),
    "centered rmsprop": (lambda step: v1.train.RMSPropOptimizer(0.001, 0.9, momentum=0.5, epsilon=1e-3, centered=True),
                         ["--optimizer", "rmsprop", "--learning-rate", "0.001", "--momentum", "0.5", "--epsilon",
                          "1e-3", "--centered"]),
    "adam": (lambda step: v1.train.AdamOptimizer(0.002, epsilon=1e-4),
             ["--optimizer", "adam", "--learning-rate", "0.002", "--epsilon", "1e-4"]),
    "ftrl": (lambda step: v1.train.FtrlOptimizer(0.05, l1_regularization_strength=0.001,
                                                 l2_regularization_strength=0.002,
                                                 l2_shrinkage_regularization_strength=0.003),
             ["--optimizer", "ftrl", "--learning-rate", "0.05", "--l1-strength", "0.001", "--l2-strength", "0.002",
              "--l2-shrinkage", "0.003"]),
}


def of_saver(data, make, restore, save, steps):
    """STEPS steps of TensorFlow 1 after the checkpoint RESTORE (None: the initial weights): the weights. SAVE is a
    prefix, or None."""
    with tf.Graph().as_default(), v1.Session() as session:
        mine = {name: v1.get_variable(name, initializer=value) for name, value in INITIAL.items()}
        step = v1.train.get_or_create_global_step()
        minimize = make(step).minimize(loss_of(mine), step)
        saver = v1.train.Saver()
        session.run(v1.global_variables_initializer())
        if restore:
            saver.restore(session, restore)
        for _ in range(steps):
            session.run(minimize)
        if save:
            saver.save(session, save, global_step=step)
        return session.run(mine)


def continue_savers(report, data):
    for name, (make, options) in V1.items():
        there, here = f"{data}/{name}/there", f"{data}/{name}/here"
        os.makedirs(there)
        of_saver(data, make, None, f"{there}/model.ckpt", BEFORE)
        expected = of_saver(data, make, tf.train.latest_checkpoint(there), None, AFTER)
        said = train(data, there, AFTER, options)
        check(report, f"{name}: TensorFlow, then Muster", weights_in(there), expected)
        report.check(f"{name}: no slot is missing", not without_slots(said), said, "")

        train(data, here, BEFORE, options)
        got = of_saver(data, make, tf.train.latest_checkpoint(here), None, AFTER)
        train(data, here, BEFORE + AFTER, options)
        check(report, f"{name}: Muster, then TensorFlow", weights_in(here), got)


def refuse_the_other_meaning(report, data):
    """Keras' momentum and TensorFlow 1's are not taken for each other."""
    said = train(data, f"{data}/nesterov/here", 1, ["--optimizer", "sgd", "--learning-rate", "0.05", "--momentum", "0.8"])
    report.check("sgd does not take Momentum", without_slots(said), said, "slots that are missing")
    folder = f"{data}/of-sgd"
    train(data, folder, BEFORE, ["--optimizer", "sgd", "--learning-rate", "0.05", "--momentum", "0.9"])
    try:
        of_saver(data, V1["momentum"][0], tf.train.latest_checkpoint(folder), None, 1)
        refused = False
    except tf.errors.NotFoundError:
        refused = True
    report.check("MomentumOptimizer does not take sgd's", refused, "no error", "NotFoundError")


def continue_objects(report, data):
    """tf.train.Checkpoint of a TensorFlow 1 optimizer, whose slots have short names too."""
    folder = f"{data}/objects"
    mine = {name: tf.Variable(value, name=name) for name, value in INITIAL.items()}
    step = tf.Variable(0, dtype=tf.int64, name="global_step")
    optimizer = v1.train.MomentumOptimizer(0.05, 0.9)

    def go_on(steps):
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = loss_of(mine)
            variables = list(mine.values())
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables), step)

    go_on(BEFORE)
    tf.train.CheckpointManager(tf.train.Checkpoint(optimizer=optimizer, step=step, **{
        name.replace("/", "_"): variable for name, variable in mine.items()}), folder, max_to_keep=1).save(BEFORE)
    go_on(AFTER)
    train(data, folder, AFTER, V1["momentum"][1])
    check(report, "objects: TensorFlow, then Muster", weights_in(folder), {n: v.numpy() for n, v in mine.items()})


# ---- Keras: name, optimizer, options of Muster, names of slots in Muster's checkpoint and where Keras has them

ADAM = {"Adam": "_momentums", "Adam_1": "_velocities"}
KERAS = {
    "momentum": (lambda: keras.optimizers.SGD(0.05, momentum=0.9),
                 ["--optimizer", "sgd", "--learning-rate", "0.05", "--momentum", "0.9"], {"momentum": "momentums"}),
    "nesterov with a schedule": (
        lambda: keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.05, 5, 0.8), 0.9, True),
        ["--optimizer", "sgd", "--momentum", "0.9", "--nesterov", *SCHEDULE],
        {"momentum": "momentums"}),
    "adagrad": (lambda: keras.optimizers.Adagrad(0.05), ["--optimizer", "adagrad", "--learning-rate", "0.05"],
                {"Adagrad": "_accumulators"}),
    "rmsprop": (lambda: keras.optimizers.RMSprop(0.002, epsilon=1e-3),
                ["--optimizer", "rmsprop", "--learning-rate", "0.002", "--epsilon", "1e-3"],
                {"RMSProp": "_velocities"}),
    "rmsprop with momentum": (lambda: keras.optimizers.RMSprop(0.001, momentum=0.5, epsilon=1e-3),
                              ["--optimizer", "rmsprop", "--learning-rate", "0.001", "--momentum", "0.5", "--epsilon",
                               "1e-3"], {"RMSProp": "_velocities", "RMSProp_1": "_momentums"}),
    "centered rmsprop": (lambda: keras.optimizers.RMSprop(0.001, momentum=0.5, epsilon=1e-3, centered=True),
                         ["--optimizer", "rmsprop", "--learning-rate", "0.001", "--momentum", "0.5", "--epsilon", "1e-3",
                          "--centered"],
                         {"RMSProp": "_velocities", "RMSProp_1": "_average_gradients", "RMSProp_2": "_momentums"}),
    "adam": (lambda: keras.optimizers.Adam(0.002, epsilon=1e-4),
             ["--optimizer", "adam", "--learning-rate", "0.002", "--epsilon", "1e-4"], ADAM),
    "amsgrad": (lambda: keras.optimizers.Adam(0.002, epsilon=1e-4, amsgrad=True),
                ["--optimizer", "adam", "--learning-rate", "0.002", "--epsilon", "1e-4", "--amsgrad"],
                {**ADAM, "Adam_2": "_velocity_hats"}),
    "adamw": (lambda: keras.optimizers.AdamW(0.002, weight_decay=0.01, epsilon=1e-4),
              ["--optimizer", "adamw", "--learning-rate", "0.002", "--epsilon", "1e-4", "--weight-decay", "0.01"],
              ADAM),
    "nadam": (lambda: keras.optimizers.Nadam(0.002, epsilon=1e-4),
              ["--optimizer", "nadam", "--learning-rate", "0.002", "--epsilon", "1e-4"], ADAM),
    "ftrl": (lambda: keras.optimizers.Ftrl(0.05, l1_regularization_strength=0.001),
             ["--optimizer", "ftrl", "--learning-rate", "0.05", "--l1-strength", "0.001"],
             {"Ftrl": "_accumulators", "Ftrl_1": "_linears"}),
}


class Keras:
    """The network with an optimizer of Keras."""

    def __init__(self, make):
        self.weights = {name: keras.Variable(value, name=name.replace("/", "_")) for name, value in INITIAL.items()}
        self.optimizer = make()
        self.optimizer.build(list(self.weights.values()))

    def slots(self, names):
        """The slots of all variables by their names in Muster's checkpoint."""
        for name, attribute in names.items():
            for variable, slot in zip(self.weights, getattr(self.optimizer, attribute)):
                yield f"{variable}/{name}", slot

    def go_on(self, steps):
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = loss_of({name: v.value for name, v in self.weights.items()})
            values = [v.value for v in self.weights.values()]
            self.optimizer.apply(tape.gradient(loss, values), list(self.weights.values()))

    def numbers(self):
        return {name: v.numpy() for name, v in self.weights.items()}


def write_bundle(prefix, tensors):
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(tensors), shape_and_slices=[""] * len(tensors),
                      tensors=[tf.constant(value) for value in tensors.values()])


def continue_keras(report, data):
    for name, (make, options, slots) in KERAS.items():
        here, there = f"{data}/keras/{name}/here", f"{data}/keras/{name}/there"
        os.makedirs(there)
        train(data, here, BEFORE, options)
        reader = tf.train.load_checkpoint(here)
        mine = Keras(make)
        for key, variable in [*mine.weights.items(), *mine.slots(slots)]:
            variable.assign(reader.get_tensor(key))
        mine.optimizer.iterations.assign(BEFORE)
        if hasattr(mine.optimizer, "_u_product"):
            products = [key for key in reader.get_variable_to_shape_map() if "state" in key and "MUSTER" not in key]
            mine.optimizer._u_product.assign(reader.get_tensor(products[0]))
        mine.go_on(AFTER)
        train(data, here, BEFORE + AFTER, options)
        check(report, f"Keras' {name}: Muster, then Keras", weights_in(here), mine.numbers())
        if hasattr(mine.optimizer, "_u_product"):
            continue  # its product is kept by Muster under a name of its own

        mine = Keras(make)
        mine.go_on(BEFORE)
        tensors = {key: variable.numpy() for key, variable in [*mine.weights.items(), *mine.slots(slots)]}
        write_bundle(f"{there}/model.ckpt-{BEFORE}", {**tensors, "global_step": np.int64(BEFORE)})
        mine.go_on(AFTER)
        said = train(data, there, AFTER, options)
        check(report, f"Keras' {name}: Keras, then Muster", weights_in(there), mine.numbers())
        report.check(f"Keras' {name}: no slot is missing", not without_slots(said), said, "")


def main():
    report = muster.Report()
    with tempfile.TemporaryDirectory() as data:
        write_idx(data)
        continue_savers(report, data)
        refuse_the_other_meaning(report, data)
        continue_objects(report, data)
        continue_keras(report, data)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
