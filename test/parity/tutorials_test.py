"""Models as TensorFlow's tutorials build them, small, there and back: 20 steps here from Keras' file with Keras' losses,
and 20 more in Keras from Muster's. Dropout has the rate 0; layers that change pictures are tested apart, as their
random numbers are not Keras'."""

import os
import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402
import round_trip  # noqa: E402
from round_trip import KERAS, Network  # noqa: E402

L = keras.layers
ROWS = 8
random = np.random.RandomState(3)


def pictures(*shape):
    return random.randint(0, 256, (ROWS, *shape)).astype(np.float32)


def numbers(*shape):
    return random.normal(0, 1, (ROWS, *shape)).astype(np.float32)


def classes(count, *shape):
    return random.randint(0, count, (ROWS, *shape)).astype(np.int32)


def adam(rate=0.001):
    return keras.optimizers.Adam(rate, epsilon=1e-4)  # Keras' own is below the rounding of small gradients


def of_classes():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def of_two():
    return keras.losses.BinaryCrossentropy(from_logits=True)


def compiled(layers, loss, optimizer=None, **options):
    model = layers if isinstance(layers, keras.Model) else keras.Sequential(layers)
    model.compile(optimizer or adam(), loss, **options)
    return model


def quickstart():
    layers = [L.Flatten(input_shape=(28, 28)), L.Dense(32, activation="relu"), L.Dropout(0.0), L.Dense(10)]
    return Network(compiled(layers, of_classes(), metrics=["accuracy"]), pictures(28, 28) / 255, classes(10), kinds=(KERAS,))


def flowers(change=0.0, drop=0.0):
    """Pictures that are mirrored in themselves do not change when they are flipped."""
    changes = [L.RandomFlip("horizontal", input_shape=(24, 24, 3)), L.RandomRotation(change), L.RandomZoom(change)]
    layers = [keras.Sequential(changes), L.Rescaling(1 / 255)]
    for filters in (8, 16, 16):
        layers += [L.Conv2D(filters, 3, padding="same", activation="relu"), L.MaxPooling2D()]
    layers += [L.Dropout(drop), L.Flatten(), L.Dense(16, activation="relu"), L.Dense(5, name="outputs")]
    rows = pictures(24, 24, 3)
    if not change:
        rows = np.round((rows + rows[:, :, ::-1]) / 2)
    return Network(compiled(layers, of_classes(), metrics=["accuracy"]), rows, classes(5), drops=change > 0)


def audio():
    """Spectrograms that become smaller and are normalized."""
    rows, normalized = numbers(31, 30, 1), L.Normalization()
    normalized.adapt(rows)
    layers = [keras.Input((31, 30, 1)), L.Resizing(16, 16), normalized, L.Conv2D(8, 3, activation="relu"),
              L.Conv2D(16, 3, activation="relu"), L.MaxPooling2D(), L.Dropout(0.0), L.Flatten(),
              L.Dense(16, activation="relu"), L.Dense(8)]
    return Network(compiled(layers, of_classes(), metrics=["accuracy"]), rows, classes(8))


def small_pictures(interpolation):
    layers = [keras.Input((11, 8, 3)), L.Resizing(7, 12, interpolation=interpolation), L.Rescaling(1 / 255), L.Flatten(),
              L.Dense(5)]
    return Network(compiled(layers, of_classes()), pictures(11, 8, 3), classes(5), kinds=(KERAS,))


def nearest():
    return small_pictures("nearest")


def area():
    return small_pictures("area")


def text():
    """Built by its first call, as `fit` builds it."""
    model = compiled([L.Embedding(200, 16), L.Dropout(0.0), L.GlobalAveragePooling1D(), L.Dropout(0.0), L.Dense(1)],
                     of_two(), metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)])
    rows = classes(200, 25)
    model(rows)
    return Network(model, rows, classes(2, 1))


def text_rnn():
    layers = [keras.Input((12,), dtype="int64"), L.Embedding(200, 16, mask_zero=True),
              L.Bidirectional(L.LSTM(8, return_sequences=True)), L.Bidirectional(L.LSTM(4)), L.Dense(8, activation="relu"),
              L.Dropout(0.0), L.Dense(1)]
    rows = np.where(np.arange(12) < random.randint(4, 13, (ROWS, 1)), random.randint(1, 200, (ROWS, 12)), 0)
    return Network(compiled(layers, of_two(), metrics=["accuracy"]), rows, classes(2, 1), kinds=(KERAS,))


def text_generation():
    layers = [keras.Input((9,), dtype="int64"), L.Embedding(40, 8), L.GRU(16, return_sequences=True), L.Dense(40)]
    return Network(compiled(layers, of_classes()), classes(40, 9), classes(40, 9), kinds=(KERAS,))


def series_convolution():
    layers = [L.Conv1D(16, kernel_size=(3,), activation="relu"), L.Dense(16, activation="relu"), L.Dense(1)]
    model, rows = compiled(layers, keras.losses.MeanSquaredError(), metrics=["mae"]), numbers(12, 5)
    model(rows)
    return Network(model, rows, numbers(10, 1), kinds=(KERAS,))


def series_lstm():
    """Several steps ahead, of several numbers."""
    layers = [L.LSTM(16), L.Dense(4 * 5, kernel_initializer=tf.initializers.zeros()), L.Reshape([4, 5])]
    model, rows = compiled(layers, keras.losses.MeanSquaredError(), metrics=["mae"]), numbers(12, 5)
    model(rows)
    return Network(model, rows, numbers(4, 5))


def fuel():
    rows, normalized = 20 + 5 * numbers(9), L.Normalization(axis=-1)
    normalized.adapt(rows)
    model = compiled([normalized, L.Dense(16, activation="relu"), L.Dense(1)], "mean_absolute_error")
    model(rows)
    return Network(model, rows, 20 + numbers(1))


def denoising():
    pixels = pictures(28, 28, 1) / 255
    encoder = keras.Sequential([keras.Input((28, 28, 1)), *(L.Conv2D(n, (3, 3), activation="relu", padding="same",
                                                                   strides=2) for n in (16, 8))])
    decoder = keras.Sequential([*(L.Conv2DTranspose(n, kernel_size=3, strides=2, activation="relu", padding="same")
                                  for n in (8, 16)), L.Conv2D(1, (3, 3), activation="sigmoid", padding="same")])
    return Network(compiled([encoder, decoder], keras.losses.MeanSquaredError()), pixels, pixels, kinds=(KERAS,))


def generator():
    layers = [L.Dense(7 * 7 * 8, use_bias=False, input_shape=(20,)), L.BatchNormalization(), L.LeakyReLU(),
              L.Reshape((7, 7, 8))]
    for filters, strides in ((8, 1), (4, 2)):
        layers += [L.Conv2DTranspose(filters, (5, 5), strides=(strides, strides), padding="same", use_bias=False),
                   L.BatchNormalization(), L.LeakyReLU()]
    layers += [L.Conv2DTranspose(1, (5, 5), strides=(2, 2), padding="same", use_bias=False, activation="tanh")]
    return Network(compiled(layers, "mse", adam(1e-4)), numbers(20), pictures(28, 28, 1) / 127.5 - 1, kinds=(KERAS,))


def sample(layer, filters, normalized=True, drops=False):
    """A step down or up of pix2pix's U-Net."""
    start = tf.random_normal_initializer(0.0, 0.02)
    block = keras.Sequential()
    block.add(layer(filters, 4, strides=2, padding="same", kernel_initializer=start, use_bias=False))
    if normalized:
        block.add(L.BatchNormalization())
    if drops:
        block.add(L.Dropout(0.0))
    block.add(L.LeakyReLU() if layer is L.Conv2D else L.ReLU())
    return block


def pix2pix():
    start = x = L.Input((16, 16, 3))
    skips = []
    for filters in (8, 16, 16):
        x = sample(L.Conv2D, filters, filters != 8)(x)
        skips.append(x)
    for filters, skip in zip((16, 8), reversed(skips[:-1])):
        x = L.Concatenate()([sample(L.Conv2DTranspose, filters, True, True)(x), skip])
    last = L.Conv2DTranspose(3, 4, strides=2, padding="same", activation="tanh",
                             kernel_initializer=tf.random_normal_initializer(0.0, 0.02))
    model = compiled(keras.Model(start, last(x)), "mae", keras.optimizers.Adam(2e-4, beta_1=0.5, epsilon=1e-4))
    return Network(model, pictures(16, 16, 3) / 127.5 - 1, pictures(16, 16, 3) / 127.5 - 1, kinds=(KERAS,))


def transfer():
    """A base that is called with training=False: in files of Keras 3 `fit` decides all the same, so that what is not
    frozen in it trains, also its batch normalization; what is frozen stays."""
    start = x = keras.Input((16, 16, 3))
    x = L.BatchNormalization(name="still")(L.Conv2D(8, 3, strides=2, name="first")(x))
    x = L.Dropout(0.0)(L.BatchNormalization()(L.Conv2D(8, 3, activation="relu")(x)))
    base = keras.Model(start, x, name="base")
    for name in ("first", "still"):
        base.get_layer(name).trainable = False
    start = keras.Input((16, 16, 3))
    x = keras.Sequential([L.RandomFlip("horizontal"), L.RandomRotation(0.0)])(start)
    x = base(keras.applications.mobilenet_v2.preprocess_input(x), training=False)
    x = L.Dense(1)(L.Dropout(0.0)(L.GlobalAveragePooling2D()(x)))
    rows = pictures(16, 16, 3)
    return Network(compiled(keras.Model(start, x), of_two()), np.round((rows + rows[:, :, ::-1]) / 2), classes(2, 1))


def imbalanced():
    start = keras.initializers.Constant(-2.0)
    layers = [L.Dense(16, activation="relu", input_shape=(29,)), L.Dropout(0.0),
              L.Dense(1, activation="sigmoid", bias_initializer=start)]
    metrics = [keras.metrics.MeanSquaredError(name="Brier score"), keras.metrics.AUC(name="prc", curve="PR")]
    return Network(compiled(layers, keras.losses.BinaryCrossentropy(), metrics=metrics), numbers(29), classes(2, 1), kinds=(KERAS,))


def overfit():
    """Penalties, and a rate that falls."""
    penalty = keras.regularizers.l2(0.001)
    layers = [L.Dense(16, activation="elu", kernel_regularizer=penalty, input_shape=(28,)), L.Dropout(0.0),
              L.Dense(16, activation="elu", kernel_regularizer=penalty), L.Dropout(0.0), L.Dense(1)]
    rate = keras.optimizers.schedules.InverseTimeDecay(0.001, decay_steps=10, decay_rate=1)
    return Network(compiled(layers, of_two(), adam(rate), metrics=["accuracy"]), numbers(28), classes(2, 1), kinds=(KERAS,))


NETWORKS = [quickstart, flowers, audio, nearest, area, text, text_rnn,
            text_generation, series_convolution, series_lstm, fuel, denoising, generator,
            pix2pix, transfer, imbalanced, overfit]


def noisy():
    layers = [keras.Input((30,)), L.GaussianNoise(0.5), L.Dense(5)]
    return Network(compiled(layers, of_classes()), numbers(30), classes(5), drops=True)


def only_in_training(report, folder):
    """What changes pictures, adds noise or drops: nothing in predictions, and another loss in training than that of the
    same weights without it. Which loss is chance, so Keras' cannot be compared."""
    makers = {"changed pictures": lambda: flowers(0.3), "dropout": lambda: flowers(0.3, 0.5), "noise": noisy}
    for name, make in makers.items():
        network = make()
        path = os.path.join(folder, "random.keras")
        network.model.save(path)
        here, = muster.evaluate([{"load": path, "predict": [network.rows], "fit": network.fit()}], "keras")
        batch = slice(0, network.batch)
        still = network.model.test_on_batch(network.rows[batch], network.labels[batch])
        report.values(f"{name}: predictions", here["predicted"], network.outputs(network.model), 1e-4, 1)
        differs = abs(here["losses"][0] / np.ravel(still)[0] - 1)
        report.check(f"{name}: acts in training", 1e-4 < differs < 1, here["losses"][0], still)


def main(*words):
    report = muster.Report()
    for make in NETWORKS:
        keras.utils.clear_session()
        keras.utils.set_random_seed(5)
        with tempfile.TemporaryDirectory() as folder:
            network = make()
            round_trip.compare(report, folder, make.__name__, network,
                               print if "--say" in words else lambda text: None)
    with tempfile.TemporaryDirectory() as folder:
        only_in_training(report, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
