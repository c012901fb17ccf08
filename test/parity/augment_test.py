"""Changes of pictures, with given numbers in place of drawn ones: tf.image.flip_left_right, flip_up_down,
crop_to_bounding_box, pad_to_bounding_box, adjust_brightness and adjust_contrast, and Keras' RandomRotation, RandomZoom
and RandomTranslation, for which f32 may differ by 1e-4. To the bit, but for these and adjust_contrast,
whose means TensorFlow sums in f32: there f32 may differ by 1e-6 of the largest, and few u8 by one step. In the command,
labels that are pictures move with the pictures."""

import json
import os
import subprocess
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_augment")
SIZES = [(1, 1, 1), (2, 3, 1), (7, 5, 3), (32, 32, 3), (28, 28, 1), (9, 14, 4), (224, 200, 3)]


def run(picture, change, *numbers):
    dtype = "u8" if picture.dtype == np.uint8 else "f32"
    arguments = [dtype, *picture.shape, change, *numbers]
    output = subprocess.run([PROGRAM, *map(str, arguments)], input=picture.tobytes(), check=True,
                            stdout=subprocess.PIPE).stdout
    shape = (numbers[2], numbers[3], picture.shape[2]) if change == "crop" else picture.shape
    return np.frombuffer(output, picture.dtype).reshape(shape)


def check(report, name, got, expected, most=0, share=0):
    difference = np.abs(got.astype(np.float64) - expected.numpy())
    report.check(name, difference.max() <= most and (difference > 0).mean() <= (share if most else 0),
                 (difference.max(), (difference > 0).mean()), 0)


def check_moves(report, random, picture):
    height, width, _ = picture.shape
    name = f"{picture.dtype} {picture.shape}"
    check(report, f"flip_left_right {name}", run(picture, "flip", 1, 0), tf.image.flip_left_right(picture))
    check(report, f"flip_up_down {name}", run(picture, "flip", 0, 1), tf.image.flip_up_down(picture))
    check(report, f"both {name}", run(picture, "flip", 1, 1), tf.image.rot90(picture, 2))
    box = [int(random.integers(1, n + 1)) for n in (height, width)]
    at = [int(random.integers(0, n - b + 1)) for n, b in zip((height, width), box)]
    check(report, f"crop {name} {at} {box}", run(picture, "crop", *at, *box),
          tf.image.crop_to_bounding_box(picture, *at, *box))
    padded = tf.image.pad_to_bounding_box(picture, 4, 4, height + 8, width + 8)
    for top, left in (-4, -4), (4, 4), (-3, 2):
        check(report, f"padded crop {name} {top} {left}", run(picture, "crop", top, left, height, width),
              tf.image.crop_to_bounding_box(padded, top + 4, left + 4, height, width))


def check_values(report, picture):
    name = f"{picture.dtype} {picture.shape}"
    most = 1 if picture.dtype == np.uint8 else 1e-6 * np.abs(picture).max()
    for delta in -1, -0.3, -0.01, 0, 0.1, 0.25, 0.9:
        check(report, f"brightness {name} {delta}", run(picture, "brightness", delta),
              tf.image.adjust_brightness(picture, delta))
    for factor in 0, 0.3, 0.9, 1, 1.2, 2.5:
        share = 0.01 if picture.dtype == np.uint8 else 1
        check(report, f"contrast {name} {factor}", run(picture, "contrast", factor),
              tf.image.adjust_contrast(picture, factor), most * max(1, factor), share)


FILLS = ["reflect", "constant", "nearest", "wrap"]
INTERPOLATIONS = ["bilinear", "nearest"]


def check_affine(report, random, picture):
    """Against the layers of Keras, whose drawn numbers are replaced by ours."""
    import keras
    height, width, _ = picture.shape

    def compare(change, layer, transformation, *numbers):
        more = {"width_factor": 0.5} if change == "translation" else {}
        for fill, fill_mode in enumerate(FILLS):
            for kind, interpolation in enumerate(INTERPOLATIONS):
                made = layer(0.5, **more, fill_mode=fill_mode, interpolation=interpolation, fill_value=0.25)
                expected = made.transform_images(tf.constant(picture[None].astype(np.float32)), transformation).numpy()[0]
                got = run(picture, change, fill, kind, 0.25, *numbers).astype(np.float64)
                if picture.dtype == np.uint8:
                    expected = np.floor(expected + 0.5)
                # a coordinate that lies between two pixels may be rounded either way
                wrong = np.abs(got - expected) > (1 if picture.dtype == np.uint8 else 1e-4)
                report.check(f"{change} {numbers} {picture.dtype} {picture.shape} {fill_mode} {interpolation}",
                             wrong.mean() <= (0.02 if kind else 0.001), wrong.mean(), 0)

    layers = keras.layers
    for degrees in -170, -90, -31.5, 7, 359:
        layer = layers.RandomRotation(0.5)
        matrix = layer._compute_affine_matrix(center_x=0.5, center_y=0.5, angle=np.float32([degrees]),
                                              translate_x=np.zeros(1, np.float32), translate_y=np.zeros(1, np.float32),
                                              scale=np.ones(1, np.float32), shear_x=np.zeros(1, np.float32),
                                              shear_y=np.zeros(1, np.float32), height=height, width=width)
        compare("rotation", layers.RandomRotation, {"rotation_matrix": matrix}, degrees)
    for zoom in (0.6, 0.6), (1, 1), (1.3, 0.8), (2, 2):
        compare("zoom", layers.RandomZoom, {"height_zoom": np.float32([[zoom[0]]]), "width_zoom": np.float32([[zoom[1]]]),
                                            "input_shape": (1, *picture.shape)}, *zoom)
    for move in (0, 0), (1.5, -2.25), (-0.4 * height, 0.3 * width), (height, -width):
        move = [float(np.float32(m)) for m in move]
        compare("translation", layers.RandomTranslation,
                {"translations": np.float32([[move[1], move[0]]]), "input_shape": (1, *picture.shape)}, *move)


def check_labels(report, random):
    """A network that can only copy each pixel learns to, but only where labels move as pictures do; else 0.08 are left."""
    layers = [("InputLayer", {"batch_shape": [None, 8, 8]}), ("Reshape", {"target_shape": [8, 8, 1]}),
              ("Conv2D", {"filters": 1, "kernel_size": [1, 1]}), ("Reshape", {"target_shape": [8, 8]})]
    layers = [{"class_name": name, "config": {"name": f"l{i}", **config}} for i, (name, config) in enumerate(layers)]
    x = random.random((64, 8, 8), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        network, data, history = (os.path.join(folder, name) for name in ("n.json", "d.npz", "h.csv"))
        with open(network, "w") as file:
            json.dump({"class_name": "Sequential", "config": {"name": "s", "layers": layers}}, file)

        def train(labels, *options):
            np.savez(data, x_train=x, y_train=labels)
            return subprocess.run([os.environ["MUSTER"], "train", "--data", f"npz:{data}", "--loss", "mse", "--devices",
                                   "cpu:1", *options], capture_output=True, text=True)

        options = ("--model", network, "--epochs", "30", "--batch-size", "8", "--learning-rate", "0.05")
        for change in (), ("--flip",), ("--crop-padding", "2"), ("--flip", "--crop-padding", "3"):
            train(x, *options, "--history", history, *change)
            with open(history) as file:
                loss = float(file.readlines()[-1].split(",")[1])
            os.remove(history)
            report.check(f"labels of {change}", loss < 5e-3, loss, 5e-3)
        for labels in x[:, ::2, ::2], x.reshape(64, 64), x[:, :, :4]:
            refused = train(labels, "--flip")
            good = refused.returncode == 1 and "cannot be moved along" in refused.stderr
            report.check(f"labels {labels.shape} are refused", good, refused.stderr, "")


if __name__ == "__main__":
    report = muster.Report()
    random = np.random.default_rng(1)
    for size in SIZES:
        for picture in random.integers(0, 256, size).astype(np.uint8), random.random(size, np.float32):
            check_moves(report, random, picture)
            check_values(report, picture)
    for size in SIZES[1:3]:
        for picture in random.integers(0, 256, size).astype(np.uint8), random.random(size, np.float32):
            check_affine(report, random, picture)
    check_labels(report, random)
    raise SystemExit(report.finish())
