"""Checkpoints, both ways: TensorFlow reads what Muster wrote (load_checkpoint, a TF1 Saver, latest_checkpoint), and Muster
reads what a TF1 Saver (partitioned variables and several data files too) and tf.train.Checkpoint wrote."""

import json
import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
v1 = tf.compat.v1

HIDDEN, CLASSES, PIXELS = 12, 10, 64
random = np.random.RandomState(5)


def write_idx(folder):
    """Small images of a size that the model has, as the four IDX files."""
    for part, count in (("train", 60), ("t10k", 20)):
        images = random.randint(0, 256, (count, 8, 8)).astype(np.uint8)
        labels = random.randint(0, CLASSES, count).astype(np.uint8)
        with open(os.path.join(folder, f"{part}-images-idx3-ubyte"), "wb") as file:
            file.write(b"\0\0\x08\x03" + np.array(images.shape, ">i4").tobytes() + images.tobytes())
        with open(os.path.join(folder, f"{part}-labels-idx1-ubyte"), "wb") as file:
            file.write(b"\0\0\x08\x01" + np.array(labels.shape, ">i4").tobytes() + labels.tobytes())
        yield images, labels


def run(*arguments):
    """Runs the command; the last event."""
    output = subprocess.run([os.environ["MUSTER"], *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(output.stdout.splitlines()[-1])


def variables():
    """The variables of the main network as a TensorFlow 1 program makes them, in the current graph."""
    shapes = {"layer1/weights": (PIXELS, HIDDEN), "layer1/biases": (HIDDEN,),
              "layer2/weights": (HIDDEN, CLASSES), "layer2/biases": (CLASSES,)}
    return {name: v1.get_variable(name, shape, tf.float32) for name, shape in shapes.items()}


def tensorflow_loss(weights, images, labels):
    """Mean cross entropy of the main network, in f64."""
    x = images.reshape(len(images), -1) / 255.0
    hidden = np.maximum(x @ weights["layer1/weights"].astype(np.float64) + weights["layer1/biases"], 0)
    logits = hidden @ weights["layer2/weights"].astype(np.float64) + weights["layer2/biases"]
    logits -= logits.max(1, keepdims=True)
    return float(np.mean(np.log(np.exp(logits).sum(1)) - logits[np.arange(len(labels)), labels]))


def tensorflow_reads_musters(report, folder, test):
    """A training of Muster with Adam and averages, read by the reader and restored by a Saver."""
    done = run("train", "--data", f"idx:{folder}", "--hidden-units", str(HIDDEN), "--batch-size", "20", "--epochs", "2",
               "--optimizer", "adam", "--ema", "0.9", "--checkpoint-dir", f"{folder}/run", "--save-every", "3",
               "--evaluate")
    latest = tf.train.latest_checkpoint(f"{folder}/run")
    report.check("latest_checkpoint", latest == f"{folder}/run/model.ckpt-6", latest, f"{folder}/run/model.ckpt-6")
    reader = tf.train.load_checkpoint(latest)
    weights = {name: reader.get_tensor(name) for name in ("layer1/weights", "layer1/biases", "layer2/weights",
                                                           "layer2/biases")}
    report.values("loss of the weights that are read", [done["test_loss"]], tensorflow_loss(weights, *test), 1e-5)
    with tf.Graph().as_default(), v1.Session() as session:
        mine = variables()
        step = v1.train.get_or_create_global_step()
        loss = tf.add_n([tf.reduce_sum(v) for v in mine.values()])
        average = tf.train.ExponentialMovingAverage(0.9, step)
        optimizer = v1.train.AdamOptimizer()
        with tf.control_dependencies([optimizer.minimize(loss, step)]):
            train = average.apply(list(mine.values()))
        v1.train.Saver().restore(session, latest)  # all of them: weights, slots, powers, averages, step
        report.check("global_step restored", session.run(step) == 6, session.run(step), 6)
        for power, beta in zip(optimizer.variables()[:2], (0.9, 0.999)):
            report.values(f"{power.op.name} restored", [session.run(power)], beta ** 7, 1e-6)
        for name, variable in mine.items():
            report.values(f"{name} restored", session.run(variable).ravel().tolist(), weights[name], 0)
            for slot, file in (("m", "Adam"), ("v", "Adam_1")):
                value = session.run(optimizer.get_slot(variable, slot))
                report.values(f"{name}/{file} restored", value.ravel().tolist(), reader.get_tensor(f"{name}/{file}"), 0)
        session.run(train)  # and training goes on
        report.check("a step after it", session.run(step) == 7, session.run(step), 7)


def muster_loss(path, folder, *more):
    return run("evaluate", "--load" if not os.path.isdir(path) else "--checkpoint-dir", path, "--data", f"idx:{folder}",
               *more)["test_loss"]


def muster_reads_savers(report, folder, test):
    """What a Saver wrote: one file, and variables in slices; read for evaluation, and as the begin of a training."""
    for name, partitions in (("plain", 1), ("sliced", 3)):
        with tf.Graph().as_default(), v1.Session() as session:
            with v1.variable_scope("", partitioner=v1.fixed_size_partitioner(partitions) if partitions > 1 else None):
                mine = variables()
            step = v1.train.get_or_create_global_step()
            values = {key: tf.convert_to_tensor(v) for key, v in mine.items()}
            loss = tf.add_n([tf.reduce_sum(v ** 2) for v in values.values()])
            train = v1.train.AdamOptimizer(0.01).minimize(loss, step)
            session.run(v1.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            path = v1.train.Saver(sharded=partitions > 1).save(session, f"{folder}/{name}/model", global_step=3) \
                if os.makedirs(f"{folder}/{name}", exist_ok=True) is None else ""
            weights = session.run(values)
        expected = tensorflow_loss(weights, *test)
        report.values(f"{name}: loss from the prefix", [muster_loss(path, folder)], expected, 1e-5)
        report.values(f"{name}: loss from the folder", [muster_loss(f"{folder}/{name}", folder)], expected, 1e-5)
        event = run("train", "--data", f"idx:{folder}", "--hidden-units", str(HIDDEN), "--batch-size", "20",
                    "--optimizer", "adam", "--load", path, "--steps", "1")
        report.check(f"{name}: training begins with them", event["step"] == 1, event["step"], 1)


def muster_names_what_it_leaves_out(report, folder):
    """Tensors of other dtypes: named, and the others are read."""
    with tf.Graph().as_default(), v1.Session() as session:
        variables()
        v1.get_variable("counts", initializer=np.array([1, 2], np.int16))
        v1.get_variable("halves", initializer=np.array([1, 2], np.float16))
        v1.get_variable("words", initializer=tf.constant(["a", "b"]))
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, f"{folder}/odd")
    output = subprocess.run([os.environ["MUSTER"], "train", "--data", f"idx:{folder}", "--hidden-units", str(HIDDEN),
                             "--batch-size", "20", "--load", path, "--steps", "1"], check=True, capture_output=True,
                            text=True).stdout
    for name, dtype in ("counts", "int16"), ("halves", "float16"), ("words", "string"):
        report.check(f"{name} is named", f"{name} ({dtype}, which is not read)" in output, output, "")


def muster_reads_objects(report, folder, test):
    """What tf.train.Checkpoint wrote: paths of objects, and full names of variables."""
    class Layer(tf.Module):
        def __init__(self, name, rows, columns):
            super().__init__(name)
            with self.name_scope:
                self.weights = tf.Variable(random.normal(0, 0.3, (rows, columns)).astype(np.float32), name="weights")
                self.biases = tf.Variable(random.normal(0, 0.3, columns).astype(np.float32), name="biases")

    layers = [Layer("layer1", PIXELS, HIDDEN), Layer("layer2", HIDDEN, CLASSES)]
    weights = {f"{layer.name}/{part}": getattr(layer, part).numpy() for layer in layers for part in ("weights", "biases")}
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(net=layers, step=tf.Variable(3, dtype=tf.int64)),
                                         f"{folder}/objects", max_to_keep=2)
    for _ in range(3):
        manager.save()
    expected = tensorflow_loss(weights, *test)
    report.values("objects by full names", [muster_loss(f"{folder}/objects", folder)], expected, 1e-5)
    tree = tf.train.Checkpoint(layer1=tf.train.Checkpoint(weights=tf.Variable(weights["layer1/weights"]),
                                                          biases=tf.Variable(weights["layer1/biases"])),
                               layer2=tf.train.Checkpoint(weights=tf.Variable(weights["layer2/weights"]),
                                                          biases=tf.Variable(weights["layer2/biases"])))
    report.values("objects by paths", [muster_loss(tree.write(f"{folder}/paths"), folder)], expected, 1e-5)


def muster_maps_names(report, folder, test):
    """A Saver's checkpoint of a program that named its variables otherwise, with the slots and averages of Adam."""
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("net"):
            hidden = {"kernel": v1.get_variable("dense/kernel", (PIXELS, HIDDEN)), "bias": v1.get_variable("dense/bias", HIDDEN)}
            out = {"kernel": v1.get_variable("out/weights", (HIDDEN, CLASSES)), "bias": v1.get_variable("out/biases", CLASSES)}
        step = v1.train.get_or_create_global_step()
        mine = [*hidden.values(), *out.values()]
        average = tf.train.ExponentialMovingAverage(0.5, step)
        with tf.control_dependencies([v1.train.AdamOptimizer(0.01).minimize(
                tf.add_n([tf.reduce_sum(v ** 2) for v in mine]), step)]):
            train = average.apply(mine)
        session.run(v1.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        os.makedirs(f"{folder}/named")
        path = v1.train.Saver().save(session, f"{folder}/named/model", global_step=3)
        names = {"layer1/weights": hidden["kernel"], "layer1/biases": hidden["bias"], "layer2/weights": out["kernel"],
                 "layer2/biases": out["bias"]}
        weights = {name: session.run(v) for name, v in names.items()}
        averages = {name: session.run(average.average(v)) for name, v in names.items()}
    with open(f"{folder}/names.txt", "w") as file:
        file.write("layer1/weights = net/dense/kernel\nlayer1/biases = net/dense/bias\nlayer2 = net/out\n")
    more = ("--name-map", f"{folder}/names.txt")
    report.values("loss of mapped names", [muster_loss(path, folder, *more)], tensorflow_loss(weights, *test), 1e-5)
    report.values("loss of mapped averages", [muster_loss(f"{folder}/named", folder, "--use-ema", *more)],
                  tensorflow_loss(averages, *test), 1e-5)
    event = run("train", "--data", f"idx:{folder}", "--hidden-units", str(HIDDEN), "--batch-size", "20", "--optimizer",
                "adam", "--ema", "0.5", "--checkpoint-dir", f"{folder}/named", "--steps", "5", *more)
    report.check("5 steps more from mapped names", event["step"] == 8, event["step"], 8)


def numpy_reads_musters(report, folder):
    run("train", "--data", f"idx:{folder}", "--hidden-units", str(HIDDEN), "--batch-size", "20", "--steps", "2",
        "--save", f"{folder}/model.npz", "--save-optimizer", "--checkpoint-dir", f"{folder}/npz")
    reader = tf.train.load_checkpoint(f"{folder}/npz")
    with np.load(f"{folder}/model.npz") as file:
        for name in ("layer1/weights", "layer2/biases", "global_step"):
            report.values(f"{name} in npz", file[name].ravel().tolist(), reader.get_tensor(name), 0)


def main():
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        _, test = list(write_idx(folder))
        tensorflow_reads_musters(report, folder, test)
        muster_reads_savers(report, folder, test)
        muster_names_what_it_leaves_out(report, folder)
        muster_reads_objects(report, folder, test)
        muster_maps_names(report, folder, test)
        numpy_reads_musters(report, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
