"""Keras' files, both ways: what Keras 3 saved gives the same predictions here and trains on with the same losses, and so
does in Keras what Muster saved: .keras, .h5, .weights.h5 and JSON, Sequential and functional models."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile

import muster
import numpy as np

tf = muster.tensorflow()
import h5py  # noqa: E402
import keras  # noqa: E402

L = keras.layers
schedules = keras.optimizers.schedules
ROWS, BATCH, EPOCHS = 32, 8, 5
random = np.random.RandomState(5)
PICTURES = random.normal(0, 1, (ROWS, 8, 8, 3)).astype(np.float32)
WORDS = random.randint(0, 20, (ROWS, 12)).astype(np.int32)
PADDED = np.where(np.arange(12) % random.randint(3, 13, (ROWS, 1)) < 2, 0, WORDS + (WORDS == 0)).astype(np.int32)
STEPS = np.where(PADDED[:, :, None] == 0, 0.5, random.normal(0, 1, (ROWS, 12, 3))).astype(np.float32)
LABELS = random.randint(0, 4, ROWS).astype(np.int32)


def text_cnn():
    return keras.Sequential([keras.Input((12,), dtype="int32"), L.Embedding(20, 6), L.Conv1D(5, 3, activation="relu"),
                             L.MaxPooling1D(2), L.Conv1D(4, 3, padding="causal", dilation_rate=2), L.Flatten(),
                             L.Dense(7, activation="silu", kernel_regularizer=keras.regularizers.L2(0.01)),
                             L.Dense(4, activation="softmax")])


def blocks():
    """What MobileNetV2 is made of, and a layer that is used twice."""
    x = start = keras.Input((8, 8, 3))
    x = L.Conv2D(6, 3, strides=2, padding="same", use_bias=False)(x)
    x = L.BatchNormalization(momentum=0.9)(x)
    x = short = L.ReLU(6.0)(x)
    x = L.ZeroPadding2D(((0, 1), (0, 1)))(x)
    x = L.DepthwiseConv2D((2, 2), use_bias=False)(x)
    x = L.BatchNormalization(scale=False)(x)
    x = L.Add()([short, x])
    pool = L.MaxPooling2D((2, 1))
    x = L.Concatenate()([pool(x), pool(L.AveragePooling2D(1)(short))])
    x = L.LeakyReLU(negative_slope=0.2)(x)
    x = L.GlobalAveragePooling2D()(x)
    return keras.Model(start, L.Dense(4, activation="softmax")(x))


def frozen():
    """A pretrained network whose first layers stay as they are: batch normalization is then no function of the batch,
    and there is no penalty."""
    x = start = keras.Input((8, 8, 3))
    x = L.Conv2D(6, 3, strides=2, kernel_regularizer=keras.regularizers.L2(0.1), name="stays")(x)
    x = L.BatchNormalization(momentum=0.9, name="stays_too")(x)
    x = L.Conv2D(5, 2, activation="relu")(x)
    x = L.BatchNormalization(momentum=0.9)(x)
    x = L.Dense(4, activation="softmax")(L.Flatten()(x))
    model = keras.Model(start, x)
    for name in FROZEN:
        model.get_layer(name).trainable = False
    return model


def logits():
    return keras.Sequential([keras.Input((8, 8, 3)), L.Flatten(), L.Dense(5, activation="tanh"), L.Dense(4)])


def activations():
    """Rescaled pictures, and every activation that layers take by name."""
    x = start = keras.Input((8, 8, 3))
    x = L.Rescaling(0.7, offset=0.1)(x)
    x = L.Conv2D(4, 3, strides=2, activation="hard_silu")(x)
    x = L.Flatten()(L.Conv2D(4, 2, activation="selu")(x))
    names = ("linear", "relu", "relu6", "leaky_relu", "elu", "gelu", "softplus", "silu", "tanh", "sigmoid", "softmax",
             "exponential", "hard_silu", "hard_sigmoid", "log_softmax", "mish", "selu", "softsign")
    rows = [L.Dense(5, activation=name)(x) for name in names]
    rows += [L.ELU()(L.Dense(5)(x)), L.Activation("mish")(L.Dense(5)(x))]
    return keras.Model(start, L.Dense(4, activation="softmax")(L.Concatenate()(rows)))


def probabilities():
    """No softmax at the end, and no logits either."""
    return keras.Sequential([keras.Input((8, 8, 3)), L.Flatten(), L.Dense(4, activation="softmax"), L.Reshape((2, -1)),
                             L.Reshape((4,))])


def normalizations():
    """Each example normalized by itself, all together, and pictures that become larger."""
    x = start = keras.Input((8, 8, 3))
    x = L.Conv2D(6, 3, strides=2)(x)
    x = L.GroupNormalization(groups=3)(x)
    x = L.Conv2DTranspose(4, (3, 2), strides=2, padding="same", activation="relu")(x)
    x = L.GroupNormalization(groups=-1, scale=False, epsilon=1e-2)(x)
    x = L.UpSampling2D((1, 2), interpolation="bilinear")(L.UpSampling2D()(x))
    x = L.Conv2D(5, 3, strides=(2, 4), activation="relu")(x)
    x = L.LayerNormalization(axis=[2, 3])(x)
    x = L.BatchNormalization(momentum=0.9, synchronized=True)(x)
    x = L.Conv2DTranspose(2, 2, strides=(1, 3), use_bias=False)(x)
    x = L.UnitNormalization(axis=[1, 3])(x)
    x = L.LayerNormalization(center=False)(L.Dense(9)(L.Flatten()(x)))
    return keras.Model(start, L.Dense(4, activation="softmax")(x))


def volumes():
    """Layers over three axes, and a row that becomes longer."""
    x = start = keras.Input((8, 8, 3))
    x = L.Reshape((4, 8, 6, 1))(x)
    x = L.Conv3D(4, (2, 3, 3), strides=(1, 2, 2), padding="same", activation="relu")(x)
    x = L.Conv3D(6, 2, groups=2, use_bias=False, dilation_rate=(2, 1, 1))(x)
    x = L.Conv3DTranspose(3, (1, 2, 2), strides=(1, 2, 1), activation="tanh")(x)
    x = L.AveragePooling3D(2, strides=1, padding="same")(L.MaxPooling3D((1, 2, 1))(x))
    pooled = L.Concatenate()([L.GlobalAveragePooling3D()(x), L.GlobalMaxPooling3D()(x)])
    row = L.Conv1DTranspose(2, 3, strides=2, padding="same", activation="relu")(L.Reshape((6, -1))(x))
    row = L.Conv1DTranspose(3, 2, use_bias=False)(row)
    return keras.Model(start, L.Dense(4, activation="softmax")(L.Concatenate()([pooled, L.Flatten()(row)])))


def separable():
    """Convolutions of each channel by itself, with penalties of their own, and sides that are cut off and put on."""
    l1, l2 = keras.regularizers.L1(0.01), keras.regularizers.L2(0.02)
    x = start = keras.Input((8, 8, 3))
    x = L.SeparableConv2D(6, (3, 2), depth_multiplier=2, activation="relu", depthwise_regularizer=l2,
                          pointwise_regularizer=keras.regularizers.L1L2(0.01, 0.02))(L.ZeroPadding2D((1, 0))(x))
    x = L.SeparableConv2D(5, 3, strides=2, padding="same", use_bias=False, pointwise_initializer="he_normal",
                          depthwise_initializer="orthogonal", pointwise_regularizer=l1)(L.Cropping2D(((1, 0), (0, 2)))(x))
    row = L.ZeroPadding1D((2, 1))(L.Cropping1D()(L.Permute((2, 1))(L.Reshape((-1, 5))(x))))
    row = L.SeparableConv1D(4, 3, dilation_rate=2, depth_multiplier=3, bias_initializer="ones")(row)
    row = L.DepthwiseConv1D(2, strides=2, padding="same", depth_multiplier=2, depthwise_regularizer=l2)(row)
    cube = L.Cropping3D(((1, 0), (0, 0), (0, 1)))(L.ZeroPadding3D(1)(L.UpSampling3D((1, 2, 1))(L.Reshape((4, 4, 4, 3))(start))))
    cube = L.Conv3D(3, 2, strides=2)(L.Permute((2, 1, 4, 3))(L.ZeroPadding3D((0, (1, 2), 1))(cube)))
    words = L.UpSampling1D()(L.RepeatVector(3)(L.GlobalAveragePooling3D()(cube)))
    words = L.UpSampling1D(3)(L.Conv1D(4, 2, activation="tanh")(words))
    rows = [L.Flatten()(row), L.Flatten()(L.LayerNormalization()(words))]
    return keras.Model(start, L.Dense(4, activation="softmax")(L.Concatenate()(rows)))


def each_step():
    """Layers that see each step by itself, also after an Embedding whose mask passes one of them."""
    def each(layer, **more):
        return L.TimeDistributed(layer, **more)

    x = start = keras.Input((12,), dtype="int32")
    x = each(L.Dense(6, activation="relu", kernel_regularizer=keras.regularizers.L2(0.01)))(
        L.Embedding(20, 5, mask_zero=True)(x))
    x = each(L.LayerNormalization())(each(L.Activation("tanh"), name="curve")(x))
    short = L.GRU(5)(x)
    x = L.Reshape((4, 3, 6, 1))(x)
    x = each(L.Conv2D(4, 2, activation="relu", name="inside"))(x)
    x = each(L.SeparableConv2D(3, 2, padding="same"))(each(L.MaxPooling2D((1, 2)))(x))
    x = each(L.GroupNormalization(groups=3))(x)
    rows = each(L.LSTM(3, return_sequences=True))(each(L.Reshape((-1, 3)))(x))
    rows = each(L.Bidirectional(L.SimpleRNN(2)))(rows)
    x = each(L.Dense(3, use_bias=False))(each(L.Flatten())(x))
    x = L.Concatenate()([L.Flatten()(rows), L.Flatten()(x), short])
    return keras.Model(start, L.Dense(4, activation="softmax")(x))


def recurrent():
    """Sequences that go both ways, and gates of other kinds."""
    x = start = keras.Input((12,), dtype="int32")
    x = L.Embedding(20, 6)(x)
    x = L.LSTM(5, return_sequences=True)(x)
    x = L.Concatenate()([x, L.LSTM(4, return_sequences=True, go_backwards=True, activation="relu", use_bias=False,
                                   recurrent_activation="tanh", kernel_regularizer=keras.regularizers.L2(0.01))(x)])
    x = L.GRU(6, return_sequences=True, bias_initializer="ones")(x)
    x = L.SimpleRNN(5, return_sequences=True, go_backwards=True)(x)
    x = L.Concatenate()([x, L.SimpleRNN(3, activation="sigmoid", use_bias=False, return_sequences=True)(x)])
    x = L.Concatenate()([L.GRU(3, use_bias=False, go_backwards=True)(x), L.LSTM(3, unit_forget_bias=False)(x)])
    return keras.Model(start, L.Dense(4, activation="softmax")(x))


def both_ways():
    """Recurrent layers over both directions, and steps that an Embedding leaves out."""
    x = start = keras.Input((12,), dtype="int32")
    x = L.Embedding(20, 6, mask_zero=True)(x)
    x = L.Bidirectional(L.LSTM(4, return_sequences=True, kernel_regularizer=keras.regularizers.L2(0.01)))(x)
    x = L.Dropout(0.0)(L.LayerNormalization()(x))
    x = L.Bidirectional(L.GRU(5, return_sequences=True, use_bias=False), merge_mode="ave")(x)
    x = L.SimpleRNN(6, return_sequences=True)(L.Dense(5, activation="tanh")(x))
    mean = L.GlobalAveragePooling1D()(x)
    x = L.GRU(4, go_backwards=True, return_sequences=True)(x)
    x = L.Concatenate()([mean, L.LSTM(3, activation="relu")(x), L.Bidirectional(L.SimpleRNN(3), merge_mode="mul")(x)])
    return keras.Model(start, L.Dense(4, activation="softmax")(x))


def masked():
    """A stack that leaves out steps of one number."""
    return keras.Sequential([keras.Input((12, 3)), L.Masking(0.5),
                             L.Bidirectional(L.GRU(4, return_sequences=True), merge_mode="sum"),
                             L.Bidirectional(L.LSTM(3, unit_forget_bias=False)), L.Dense(4, activation="softmax")])


def attention():
    """A step of a transformer: attention to the words before, then to a shorter sequence with values of their own."""
    x = start = keras.Input((12,), dtype="int32")
    x = L.Embedding(20, 6)(x)
    x = L.LayerNormalization()(L.Add()([x, L.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)]))
    short, keys = L.Conv1D(6, 3, strides=3)(x), L.AveragePooling1D(3)(x)
    x = L.MultiHeadAttention(3, 2, value_dim=4, use_bias=False, output_shape=5)(x, value=short)
    x = L.MultiHeadAttention(2, 2)(x, short, keys)
    return keras.Model(start, L.Dense(4, activation="softmax")(L.GlobalAveragePooling1D()(x)))


def nested():
    """Models as layers: one of two outputs that is called twice, with a stack in it, and a stack that is called once."""
    x = start = keras.Input((8, 8, 3))
    x = L.Conv2D(3, 3, padding="same", name="first")(x)
    side = L.LayerNormalization()(1 - x / 2)
    x = keras.Sequential([L.ReLU(), L.Conv2D(3, 1, name="first")], name="stack")(side)
    inner = keras.Model(start, [x, side], name="inner")
    top = keras.Sequential([keras.Input((6,)), L.Dense(5, activation="relu"), L.BatchNormalization(), L.Dense(4)],
                           name="top")
    start = keras.Input((8, 8, 3))
    x, short = inner(start)
    x, other = inner(L.Add()([x, start]))
    x = L.GlobalAveragePooling2D()(L.Concatenate()([x, L.Add()([short, other])]))
    return keras.Model(start, L.Softmax()(top(x)))


def repeated():
    """A model that is applied to its own output, and to others; of its calls an earlier one is an output too."""
    start = keras.Input((12,))
    inside = keras.Input((12,))
    inner = keras.Model(inside, L.Dense(12, activation="tanh")(inside))
    stack = keras.Sequential([keras.Input((12,)), L.Dense(12, activation="tanh")])
    rows = [inner(inner(inner(start))), stack(stack(start)), inner(stack(L.Dense(12)(start)))]
    return keras.Model(start, L.Dense(4, activation="softmax")(L.Concatenate()(rows)))


def named():
    """Models that are called with dicts, whose members have another order than the inputs of the model."""
    def pair(name, make):
        left, right = keras.Input((12,), name="left"), keras.Input((12,), name="right")
        return keras.Model(make(left, right), L.Subtract()([L.Dense(6)(left), L.Dense(6, activation="tanh")(right)]),
                           name=name)

    start = keras.Input((12,))
    half = L.Rescaling(0.5)(start)
    by_key, by_name = pair("by_key", lambda a, b: {"right": b, "left": a}), pair("by_name", lambda a, b: [a, b])
    rows = [model({"right": a, "left": b}) for model in (by_key, by_name) for a, b in ((start, half), (half, start))]
    return keras.Model(start, L.Dense(4, activation="softmax")(L.Concatenate()(rows)))


def nested_frozen():
    """Transfer learning as Keras' guide does it: a frozen model first in a stack, called with training=False."""
    x = start = keras.Input((8, 8, 3))
    x = L.Conv2D(4, 3, name="first")(x)
    x = L.BatchNormalization(name="second")(x)
    base = keras.Model(start, L.GlobalAveragePooling2D(name="pool")(x), name="base")
    base.trainable = False
    start = keras.Input((8, 8, 3))
    return keras.Model(start, keras.Sequential([L.Dense(4, activation="softmax")])(base(start, training=False)))


def stacks():
    return keras.Sequential([keras.Sequential([keras.Input((8, 8, 3)), L.Conv2D(3, 3), L.ReLU()]),
                             keras.Sequential([L.Flatten(), keras.Sequential([L.Dense(5), L.ReLU()])]),
                             L.Dense(4, activation="softmax")])


def operators():
    """Python's operators, of tensors and numbers: ops in the list of layers."""
    start = keras.Input((8, 8, 3))
    x = keras.applications.mobilenet_v2.preprocess_input(start)
    x = L.Conv2D(3, 3, padding="same")(100 * (1.5 - x) + 100)
    x = x * L.Conv2D(3, 1)(x / 200.0) - x
    x = L.GlobalAveragePooling2D()(1 + x + start)
    rows = [x * np.array([1.0, -0.5, 2.0], "float32"), keras.ops.convert_to_tensor([1.0, 2.0, 3.0]) - x,
            x / np.array([[2.0, 100.0, 5.0]]), x ** 2 / 100, 1 / (x ** 2 + 1), -x / (x ** 2 + 1), (x ** 2 + 1) ** -0.3,
            keras.ops.sqrt(keras.ops.square(x) + 1), keras.ops.take(x, [2, 0], axis=1), x[:, 1:] ** 3 / 1e6,
            L.Rescaling([0.1, 0.2, -0.3], offset=[1, 0, 2])(x), L.Flatten()(start[..., ::-1])[:, 4:9]]
    return keras.Model(start, L.Dense(4, activation="softmax")(L.Concatenate()(rows)))


def prepared():
    """Layers of preprocessing, which have learnt from the data or were told of it."""
    def learn(layer, rows=PICTURES):
        layer.adapt(rows)
        return layer
    start = keras.Input((8, 8, 3))
    x = [learn(L.Normalization(), 3 * PICTURES + 2)(start), learn(L.Normalization(axis=1))(start),
         learn(L.Normalization(axis=None), PICTURES - 1)(start), learn(L.Normalization(invert=True))(start),
         L.Normalization(mean=[1.0, 0.5, -2.0], variance=np.array([4.0, 0.3, 1.0]))(start),
         L.Normalization(axis=(1,), mean=np.arange(8.0), variance=np.arange(8.0) + 1)(start),
         L.Normalization(axis=(), mean=0.1, variance=2.5, invert=True)(start)]
    x = L.Conv2D(4, 3, strides=2, activation="relu")(L.Concatenate()(x))
    row = L.Flatten()(start)
    bins = learn(L.Discretization(num_bins=4))(row)
    parts = [L.CategoryEncoding(4, output_mode="count")(bins), L.CategoryEncoding(6)(bins),
             L.Flatten()(L.CategoryEncoding(4, output_mode="one_hot")(bins)),
             L.Flatten()(learn(L.Discretization(num_bins=3, output_mode="one_hot"))(row)),
             L.Discretization([-2.0, -0.5, 0.25, 2.1], output_mode="multi_hot")(row),
             L.Discretization([-1.0, 1.0], output_mode="count")(row)]
    return keras.Model(start, L.Dense(4, activation="softmax")(L.Concatenate()([L.Flatten()(x), *parts])))


def normalized():
    """A stack that begins with a normalization."""
    layer = L.Normalization()
    layer.adapt(PICTURES * [3.0, 1.0, 10.0] + 5)
    return keras.Sequential([keras.Input((8, 8, 3)), layer, L.Flatten(), L.Dense(4, activation="softmax")])


FROZEN = ["stays", "stays_too"]
FROZEN_IN = {frozen: FROZEN, nested_frozen: ["base.first", "base.second", "base.pool"]}  # names that Muster writes
NESTED = (nested, repeated, named, nested_frozen, stacks)
MODELS = {"text CNN": (text_cnn, WORDS), "blocks": (blocks, PICTURES), "frozen": (frozen, PICTURES),
          "normalizations": (normalizations, PICTURES), "volumes": (volumes, PICTURES),
          "separable": (separable, PICTURES), "recurrent": (recurrent, WORDS), "both ways": (both_ways, PADDED), "each step": (each_step, PADDED), "masked": (masked, STEPS), "attention": (attention, WORDS),
          "activations": (activations, PICTURES), "logits": (logits, PICTURES), "probabilities": (probabilities, PICTURES),
          "operators": (operators, PICTURES), "prepared": (prepared, PICTURES), "normalized": (normalized, PICTURES),
          "nested": (nested, PICTURES), "repeated": (repeated, STEPS[:, :, 0]), "named": (named, STEPS[:, :, 0]),
          "nested and frozen": (nested_frozen, PICTURES), "stacks": (stacks, PICTURES)}
ALL_OPTIMIZERS = (text_cnn, frozen)
COMMANDS = (text_cnn, frozen, logits, probabilities, prepared, nested_frozen)  # the command is the same for all layers
OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.05),
    "momentum": lambda: keras.optimizers.SGD(0.02, momentum=0.9),
    "adam": lambda: keras.optimizers.Adam(0.002, epsilon=1e-4),
    "amsgrad": lambda: keras.optimizers.Adam(0.002, epsilon=1e-4, amsgrad=True),
    "adamw": lambda: keras.optimizers.AdamW(0.002, weight_decay=0.05, epsilon=1e-4),
    "adagrad": lambda: keras.optimizers.Adagrad(0.05),
    "nadam": lambda: keras.optimizers.Nadam(0.002, epsilon=1e-4),
    "ftrl": lambda: keras.optimizers.Ftrl(0.05, l1_regularization_strength=0.001, l2_regularization_strength=0.01),
    "centered rmsprop": lambda: keras.optimizers.RMSprop(0.001, centered=True, epsilon=1e-2),
    "nesterov, clipped": lambda: keras.optimizers.SGD(0.02, momentum=0.9, nesterov=True, clipnorm=0.5),
    "exponential": lambda: keras.optimizers.Adam(schedules.ExponentialDecay(0.002, 5, 0.9), epsilon=1e-4),
    "cosine": lambda: keras.optimizers.SGD(schedules.CosineDecay(
        0.001, 20, alpha=0.1, warmup_target=0.02, warmup_steps=10), momentum=0.9),
    "piecewise": lambda: keras.optimizers.SGD(schedules.PiecewiseConstantDecay([10, 20], [0.02, 0.01, 0.005])),
    "polynomial": lambda: keras.optimizers.SGD(schedules.PolynomialDecay(0.02, 16, 0.0, 2.0, cycle=True)),
    "inverse time": lambda: keras.optimizers.SGD(schedules.InverseTimeDecay(0.02, 5, 0.5, staircase=True)),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.001, momentum=0.5, epsilon=1e-3),
    "averages": lambda: keras.optimizers.Adam(0.002, epsilon=1e-4, use_ema=True, ema_momentum=0.9),
    "accumulated": lambda: keras.optimizers.SGD(0.05, momentum=0.9, gradient_accumulation_steps=3),
    "averages, accumulated": lambda: keras.optimizers.Nadam(0.002, epsilon=1e-4, use_ema=True, ema_momentum=0.8,
                                                            gradient_accumulation_steps=3),
}


def outputs_of(model, rows):
    """What model.predict gives, without the second or more that it takes to make a graph first."""
    return model(rows, training=False).numpy()


def losses_of(model, rows, epochs=EPOCHS):
    """The loss of each step, with the penalties."""
    losses = []
    model.reset_metrics()
    for _ in range(epochs):
        for i in range(0, ROWS, BATCH):
            losses.append(float(model.train_on_batch(rows[i:i + BATCH], LABELS[i:i + BATCH])))
            model.reset_metrics()
    return losses


def h5_state(path):
    """The optimizer's state in an .h5 file. Keras 3.15 does not train on from there, not from its own files either:
    legacy_h5_format.py builds the optimizer without the variables of layers."""
    with h5py.File(path) as file:
        group = file["optimizer_weights"]
        return [np.asarray(group[name]).tolist() for name in group.attrs["weight_names"]]


def train(report, folder, name, make, rows, optimizer):
    """Keras, then both; then back: Muster, then both."""
    keras.utils.set_random_seed(3)
    label = f"{name}, {optimizer}"
    first, second = os.path.join(folder, "first.keras"), os.path.join(folder, "second.keras")
    model = make()
    model.compile(OPTIMIZERS[optimizer](), keras.losses.SparseCategoricalCrossentropy(from_logits=make is logits))
    losses_of(model, rows, 2)
    model.save(first)
    data = {"data": [rows, LABELS], "batch_size": BATCH, "epochs": EPOCHS}
    [here] = muster.evaluate([{"load": first, "predict": [rows], "fit": data, "save": second, "state": True}], "keras")
    report.check(f"{label}: state", here["state"], here["state"], True)
    report.values(f"{label}: predictions", here["predicted"], outputs_of(model, rows), 1e-5, 1)
    report.values(f"{label}: losses from Keras' file", here["losses"], losses_of(model, rows), 1e-5)
    back = keras.models.load_model(second)
    report.check(f"{label}: name", back.name == model.name, back.name, model.name)
    names = [layer.name for layer in back.layers if not layer.trainable]
    report.check(f"{label}: frozen layers", names == FROZEN_IN.get(make, []), names, make)
    report.check(f"{label}: iterations", int(back.optimizer._iterations.numpy()) == 28, back.optimizer._iterations, 28)  # not those of updates
    # the same two as .h5
    old, older = os.path.join(folder, "old.h5"), os.path.join(folder, "older.h5")
    back.save(older)
    copy = {"load": second, "predict": [rows], "save": old, "state": True}
    [_, from_old] = muster.evaluate([copy, {"load": older, "fit": data}], "keras")
    report.check(f"{label}: state of .h5", from_old["state"], from_old["state"], True)
    back_old = keras.models.load_model(old)
    report.values(f"{label}: predictions of Muster's .h5", outputs_of(back_old, rows).ravel(),
                  outputs_of(back, rows), 1e-6, 1)
    report.check(f"{label}: state in .h5", h5_state(old) == h5_state(older), h5_state(old), h5_state(older))
    [more] = muster.evaluate([{"load": second, "predict": [rows], "fit": data}], "keras")
    report.values(f"{label}: predictions of Muster's file", more["predicted"], outputs_of(back, rows), 1e-5, 1)
    wanted = losses_of(back, rows)
    report.values(f"{label}: losses from Muster's file", more["losses"], wanted, 1e-5)
    report.values(f"{label}: losses from Keras' .h5", from_old["losses"], wanted, 1e-5)


def files(report, folder, name, make, rows):
    """The other kinds of files: predictions alone."""
    keras.utils.set_random_seed(4)
    model = make()
    at = {kind: os.path.join(folder, "m." + kind) for kind in ("h5", "weights.h5", "json", "old.weights.h5")}
    model.compile("adam", "sparse_categorical_crossentropy")
    model.save(at["h5"])
    model.save_weights(at["weights.h5"])
    with open(at["json"], "w") as file:
        file.write(model.to_json())
    out = os.path.join(folder, "out.weights.h5")
    network = os.path.join(folder, "out.json")
    cases = [{"load": at["h5"], "predict": [rows], "save": out},
             {"load": at["json"], "weights": at["weights.h5"], "predict": [rows], "save": network},
             {"load": at["json"], "weights": at["h5"], "predict": [rows]}]
    if make in NESTED:  # of them only whole models are read
        cases[1:] = [{"load": at["json"], "weights": out, "predict": [rows], "save": network}]
    answers = muster.evaluate(cases, "keras")
    expected = outputs_of(model, rows)
    for answer, kind in zip(answers, ("h5", "JSON and weights.h5", "JSON and h5")):
        report.values(f"{name}: {kind}", answer["predicted"], expected, 1e-5, 1)
    with open(network) as file:
        again = keras.models.model_from_json(file.read())
    again.load_weights(out)
    report.values(f"{name}: Muster's JSON and weights.h5", outputs_of(again, rows).ravel(), expected, 1e-6, 1)


def policies(report, folder):
    """Layers of mixed_bfloat16, both ways; on processors without bf16 Muster computes them in f32."""
    keras.utils.set_random_seed(6)
    model = keras.Sequential([keras.Input((8, 8, 3)), L.Conv2D(4, 3, dtype="mixed_bfloat16"), L.Flatten(),
                              L.Dense(8, dtype="mixed_bfloat16"), L.Dense(4, dtype="float32")])
    path, out = os.path.join(folder, "mixed.keras"), os.path.join(folder, "mixed.out.keras")
    model.save(path)
    [answer] = muster.evaluate([{"load": path, "predict": [PICTURES], "save": out}], "keras")
    report.values("policies: predictions", answer["predicted"], model.predict(PICTURES, verbose=0), 0.03, 1)
    back = keras.models.load_model(out)
    names = [layer.dtype_policy.name for layer in back.layers if layer.weights]
    report.check("policies", names == ["mixed_bfloat16", "mixed_bfloat16", "float32"], names, "two of three")
    report.values("policies: Muster's file", back.predict(PICTURES, verbose=0).ravel(),
                  model.predict(PICTURES, verbose=0), 1e-6, 1)


def refused(report, folder):
    """What is no layer here, and what is code: one error that names it."""
    lambdas = keras.Sequential([keras.Input((3,)), L.Lambda(lambda x: x + 1, name="plus"), L.Dense(2)])
    unknown = keras.Sequential([keras.Input((4, 3, 2)), L.ConvLSTM1D(2, 1, name="remember")])
    start = keras.Input((3,))
    exponential = keras.Model(start, L.Dense(2)(2 ** start))
    quotient = keras.Model(start, L.Dense(2)(keras.ops.convert_to_tensor([1.0, 2.0, 3.0]) / start))
    inverse = keras.Sequential([keras.Input((3,), dtype="int64"), L.IntegerLookup(vocabulary=[4], invert=True, name="back")])
    steps, state = keras.Input((4, 3)), keras.Input((3,))
    begun = keras.Model([steps, state], L.GRU(3, name="begun")(steps, initial_state=state))
    both = keras.Model([steps, state], L.Bidirectional(L.LSTM(3), name="both")(steps, initial_state=[state] * 4))
    hidden = keras.Model([steps, state], L.SimpleRNN(3, name="hidden")(steps, state))
    for model, words in ((begun, ("'begun'", "'initial_state'")), (both, ("'both'", "'initial_state'")),
                         (hidden, ("'hidden'", "applied to 2 outputs, takes 1")), (inverse, ("'back'", "IntegerLookup", "invert = true")), (lambdas, ("'plus'", "never run")), (unknown, ("'remember'", "ConvLSTM1D")),
                         (exponential, ("Power", "there is no such layer here")),
                         (quotient, ("TrueDivide", "there is no such layer here"))):
        path = os.path.join(folder, "refused.keras")
        model.save(path)
        [answer] = muster.evaluate([{"load": path, "fails": True}], "keras")
        message = answer.get("failed", "")
        report.check("refused", all(word in message for word in words), message, words)


def command(folder, *arguments):
    """What the command prints; an error ends the test."""
    call = [os.environ["MUSTER"], *arguments]
    return subprocess.run(call, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def commands(report, folder, name, make, rows):
    """muster predict, evaluate, convert and train with Keras' files, and Keras with theirs."""
    keras.utils.set_random_seed(5)
    model = make()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=make is logits)
    model.compile(keras.optimizers.Adam(0.002, epsilon=1e-4), loss)
    losses_of(model, rows, 2)
    np.savez(os.path.join(folder, "x.npz"), x=rows)
    np.savez(os.path.join(folder, "data.npz"), x_train=rows, y_train=LABELS, x_test=rows, y_test=LABELS)

    def predicted(path):
        command(folder, "predict", "--load", path, "--data", "npz:x.npz", "--out", "p.npy")
        return np.load(os.path.join(folder, "p.npy")).ravel()

    def probabilities_of(of):
        outputs = outputs_of(of, rows)
        return tf.nn.softmax(outputs).numpy() if make is logits else outputs

    def evaluated(path):
        lines = command(folder, "evaluate", "--load", path, "--data", "npz:data.npz", "--json").splitlines()
        return [json.loads(lines[-1])["test_loss"]]

    for kind in ("m.keras", "m.h5"):
        model.save(os.path.join(folder, kind))
        report.values(f"{name}: muster predict --load {kind}", predicted(kind), probabilities_of(model), 1e-5, 1)
        wanted = model.evaluate(rows, LABELS, verbose=0)
        report.values(f"{name}: muster evaluate --load {kind}", evaluated(kind), wanted, 1e-5)
    command(folder, "convert", "m.h5", "converted.keras", "--overwrite")
    again = keras.models.load_model(os.path.join(folder, "converted.keras"))
    wanted = outputs_of(model, rows)
    report.values(f"{name}: muster convert", outputs_of(again, rows).ravel(), wanted, 1e-6, 1)
    command(folder, "train", "--load", "m.keras", "--data", "npz:data.npz", "--epochs", "2", "--batch-size", str(BATCH),
            "--no-shuffle", "--shards", "1", "--save", "out.keras")
    back = keras.models.load_model(os.path.join(folder, "out.keras"))
    losses_of(model, rows, 2)
    wanted = probabilities_of(model)
    report.values(f"{name}: muster train --save out.keras", probabilities_of(back).ravel(), wanted, 1e-4, 1)
    report.values(f"{name}: muster predict --load out.keras", predicted("out.keras"), probabilities_of(back), 1e-5, 1)
    report.values(f"{name}: its loss in Keras", evaluated("out.keras"), back.evaluate(rows, LABELS, verbose=0), 1e-5)
    report.check(f"{name}: its optimizer", int(back.optimizer.iterations.numpy()) == 16, back.optimizer.iterations, 16)


def lookups(report, folder):
    """Strings as inputs: a vocabulary that was learnt, which is a file of its own in .keras, and one that was given."""
    words = np.array([b"red", b"blue", b"red", b"green", b"blue", b"red", "gr\u00fcn".encode(), b""], object).reshape(-1, 1)
    new = np.concatenate([words, np.array([[b"pink"], [b"[UNK]"], [b"black"]], object)])
    start = keras.Input((1,), dtype="string")
    layers = [L.StringLookup(output_mode="one_hot"), L.StringLookup(num_oov_indices=3, output_mode="count"),
              L.StringLookup(mask_token="", output_mode="one_hot"),
              L.StringLookup(vocabulary=["red", "blue", "pink"], mask_token="", output_mode="multi_hot")]
    for layer in layers[:3]:
        layer.adapt(tf.constant(words))
    rows = [layer(start) for layer in layers]
    numbers = L.StringLookup(vocabulary=["[UNK]", "blue", "red"])(start)
    masked = L.StringLookup(vocabulary=["", "[UNK]", "blue", "red"], mask_token="")(start)
    rows += [L.Flatten()(L.Embedding(4, 2)(which)) for which in (numbers, masked)]
    model = keras.Model(start, L.Dense(3)(L.Concatenate()(rows)))
    wanted = model.predict(tf.constant(new), verbose=0)
    path, out = os.path.join(folder, "words.keras"), os.path.join(folder, "out.keras")
    model.save(path)
    [answer] = muster.evaluate([{"load": path, "predict": [new], "save": out}], "keras")
    report.values("lookups: predictions", answer["predicted"], wanted, 1e-5, 1)
    back = keras.models.load_model(out)
    report.values("lookups: Muster's file", back.predict(tf.constant(new), verbose=0).ravel(), wanted, 1e-6, 1)


def integer_lookups(report, folder):
    """Integers as inputs, with vocabularies as those of strings: read, trained on, and what Muster has learnt."""
    known = np.array([[7, 7, -3], [7, 12, 12], [0, 7, -3], [900719925474099, 12, 0]] * 2, np.int64)
    new = np.concatenate([known, [[-1, 5, 7], [8, -8, 0]]])
    keras.utils.set_random_seed(6)
    start = keras.Input((3,), dtype="int64", name="kinds")
    layers = [L.IntegerLookup(output_mode="one_hot"), L.IntegerLookup(num_oov_indices=3, output_mode="count"),
              L.IntegerLookup(num_oov_indices=2, mask_token=0), L.IntegerLookup(mask_token=12, output_mode="count"),
              L.IntegerLookup(vocabulary=[7, 900719925474099], mask_token=0, output_mode="multi_hot"),
              L.IntegerLookup(vocabulary=[0, -2, -2, 12, 7], num_oov_indices=2, mask_token=0, oov_token=-2),
              L.IntegerLookup(vocabulary=[*range(-8, 13), 900719925474099], num_oov_indices=0, oov_token=None)]
    for layer in layers[:4]:
        layer.adapt(known)
    outputs = [layer(start) for layer in layers]
    rows = [L.Flatten()(outputs[0]), *(outputs[i] for i in (1, 3, 4))]
    rows += [L.Flatten()(L.Embedding(30, 2)(outputs[i])) for i in (2, 5, 6)]
    model = keras.Model(start, L.Dense(3)(L.Concatenate()(rows)))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    targets = np.arange(24, dtype=np.float32).reshape(8, 3) / 24
    np.savez(os.path.join(folder, "known.npz"), x_train=known, y_train=targets, x_test=known, y_test=targets)
    path = os.path.join(folder, "integers.keras")
    model.save(path)
    wanted = model.predict(new, verbose=0)
    for kind in ("out.keras", "out.h5"):
        out = os.path.join(folder, kind)
        [answer] = muster.evaluate([{"load": path, "predict": [new], "save": out}], "keras")
        report.values("integer lookups: predictions", answer["predicted"], wanted, 1e-5, 1)
        back = keras.models.load_model(out, compile=False)
        report.values(f"integer lookups: Muster's {kind}", back.predict(new, verbose=0).ravel(), wanted, 1e-6, 1)
        again = os.path.join(folder, f"again_{kind}")
        back.save(again)
        for path_of_copy in (out, again):
            [answer] = muster.evaluate([{"load": path_of_copy, "predict": [new]}], "keras")
            report.values(f"integer lookups: {path_of_copy} here", answer["predicted"], wanted, 1e-5, 1)
    command(folder, "train", "--load", "integers.keras", "--data", "npz:known.npz", "--epochs", "3", "--batch-size", "8",
            "--no-shuffle", "--shards", "1", "--save", "trained.keras")
    model.fit(known, targets, batch_size=8, epochs=3, shuffle=False, verbose=0)
    back = keras.models.load_model(os.path.join(folder, "trained.keras"))
    report.values("integer lookups: trained on", back.predict(new, verbose=0).ravel(), model.predict(new, verbose=0),
                  1e-5, 1)
    for options in ({}, {"num_oov_indices": 3, "has_mask": True, "mask_token": 7},
                    {"max_tokens": 4, "output_mode": "count", "has_mask": True}):
        path = os.path.join(folder, "learnt.keras")
        layers = [{"type": "input", "options": {"shape": [3], "dtype": "i64"}},
                  {"type": "integer_lookup", "options": options, "src": [0], "adapt": [known]}]
        [answer] = muster.evaluate([{"layers": layers, "predict": [new], "save": path}], "models")
        back = keras.models.load_model(path, compile=False)
        report.values(f"integer lookups: learnt with {options}", answer["predicted"], back.predict(new, verbose=0), 0, 1)


def split_texts(report, folder):
    """Models that take texts as strings and split them themselves, as those that TensorFlow's tutorials export."""
    words = "The a of on, and Then it was there again. ball Goal! team atom energy Star cell gr\u00fcn don't".split()
    random = np.random.RandomState(3)
    known = [" ".join(random.choice(words, random.randint(1, 12))) for _ in range(40)]
    new = known[:4] + ["", "  nothing\tknown ", "[UNK] ball", "A " * 120, "!!! ?"]
    inner = keras.Sequential([L.Embedding(15, 6), L.GlobalAveragePooling1D(), L.Dense(4)])
    cases = [("words", (1,), dict(max_tokens=15, output_sequence_length=9), [inner, L.Activation("softmax")]),
             ("masked", (), dict(max_tokens=15, output_sequence_length=20),
              [L.Embedding(15, 6, mask_zero=True), L.Bidirectional(L.LSTM(3)), L.Dense(4)]),
             ("open length", (1,), dict(max_tokens=15), [L.Embedding(15, 6, mask_zero=True), L.LSTM(3), L.Dense(4)]),
             ("multi_hot", (1,), dict(max_tokens=15, output_mode="multi_hot"), [L.Dense(4)]),
             ("count", (1,), dict(standardize=None, output_mode="count"), [L.Dense(4)]),
             ("characters", (1,), dict(standardize="lower", split="character", output_sequence_length=30),
              [L.Embedding(40, 4), L.Conv1D(3, 4), L.GlobalMaxPooling1D(), L.Dense(4)]),
             ("given", (1,), dict(standardize="strip_punctuation", vocabulary=["ball", "The", "atom"],
                                  output_sequence_length=5), [L.Embedding(5, 3), L.Flatten(), L.Dense(4)])]
    for name, shape, options, layers in cases:
        keras.utils.set_random_seed(9)
        split = L.TextVectorization(**options)
        if "vocabulary" not in options:
            split.adapt(known)
        model = keras.Sequential([keras.Input(shape, dtype="string"), split, *layers])
        fed = np.array([text.encode() for text in new], object).reshape(-1, *shape)
        wanted = model.predict(tf.constant(fed), verbose=0)
        path, out = os.path.join(folder, "split.keras"), os.path.join(folder, "out.keras")
        model.save(path)
        [answer] = muster.evaluate([{"load": path, "predict": [fed], "save": out}], "keras")
        report.values(f"texts, {name}: predictions", answer["predicted"], wanted, 1e-5, 1)
        back = keras.models.load_model(out)
        got = back.predict(tf.constant(fed), verbose=0)
        report.values(f"texts, {name}: Muster's file", got.ravel(), wanted, 1e-6, 1)
        report.check(f"texts, {name}: its vocabulary", back.layers[0].get_vocabulary() == split.get_vocabulary(),
                     back.layers[0].get_vocabulary(), split.get_vocabulary())
    # training by the command, on texts in folders, as Keras' fit
    for label in range(4):
        os.makedirs(os.path.join(folder, "known", f"class{label}"))
        for i in range(10):
            with open(os.path.join(folder, "known", f"class{label}", f"{i}.txt"), "w") as file:
                file.write(known[10 * label + i])
    name, shape, options, layers = cases[0]
    split = L.TextVectorization(**options)
    split.adapt(known)
    model = keras.Sequential([keras.Input(shape, dtype="string"), split, *layers])
    model.compile(keras.optimizers.SGD(0.5), "sparse_categorical_crossentropy")
    model.save(os.path.join(folder, "known.keras"))
    command(folder, "train", "--load", "known.keras", "--data", "texts:known", "--epochs", "3", "--batch-size", "8",
            "--no-shuffle", "--shards", "1", "--save", "trained.keras")
    fed = tf.constant(np.array(known, object).reshape(-1, 1))
    model.fit(fed, np.repeat(np.arange(4), 10), batch_size=8, epochs=3, shuffle=False, verbose=0)
    back = keras.models.load_model(os.path.join(folder, "trained.keras"))
    report.values("texts: trained on", back.predict(fed, verbose=0).ravel(), model.predict(fed, verbose=0), 1e-5, 1)


def texts(report, folder):
    """The network of a text model takes tokens; the vocabulary beside it makes them in Keras."""
    with open(os.path.join(folder, "texts.csv"), "w") as file:
        file.write("text,class\n")
        file.writelines(f"\"A w{i % 7}, W{i * 5 % 11} and w{i % 3}!\",{'odd' if i % 2 else 'even'}\n" for i in range(60))
    new = ["w1 and W3, w3", "nothing known", "", "a " * 40]
    with open(os.path.join(folder, "new_texts.csv"), "w") as file:
        file.writelines(f"\"{line}\"\n" for line in ["text", *new])
    command(folder, "train", "--data", "csv:texts.csv", "--text", "text", "--label", "class", "--sequence-length", "30",
            "--epochs", "2", "--save", "texts.keras")
    command(folder, "predict", "--load", "texts.keras", "--data", "csv:new_texts.csv", "--text", "text", "--out", "p.npy")
    path = os.path.join(folder, "texts.keras")
    with zipfile.ZipFile(path) as file:
        notes = json.loads(file.read("metadata.json"))["muster_notes"]
    text = json.loads(json.loads(notes["muster/train"])["schema"])["text"]
    words = L.TextVectorization(standardize=text["standardize"], split=text["split"], vocabulary=text["vocabulary"],
                                output_sequence_length=text["sequence_length"])
    model = keras.Sequential([keras.Input((1,), dtype="string"), words, keras.models.load_model(path), L.Softmax()])
    wanted = model.predict(tf.constant([[line] for line in new]), verbose=0)
    report.values("texts in Keras", np.load(os.path.join(folder, "p.npy")).ravel(), wanted, 1e-5, 1)


def tables(report, folder):
    """What muster train makes of a table: columns of numbers, of categories one-hot and embedded, and new categories."""
    lines = ["city,area,kind,year,price"]
    lines += [f"c{i * 7 % 9},{20 + i * 13 % 90},k{i % 3},{1900 + i * 29 % 120},{i * 17 % 50}" for i in range(60)]
    with open(os.path.join(folder, "t.csv"), "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(folder, "new.csv"), "w") as file:
        file.write("\n".join([*lines[:30], "c99,50,k1,1950,1", "c3,40,k7,1960,1"]) + "\n")
    for kind in ("t.keras", "t.h5"):
        command(folder, "train", "--data", "csv:t.csv", "--loss", "mse", "--embed-above", "3", "--hidden-units", "5",
                "--epochs", "3", "--batch-size", "10", "--save", kind)
        command(folder, "predict", "--load", kind, "--data", "csv:new.csv", "--out", "p.npy")
        wanted = np.load(os.path.join(folder, "p.npy")).ravel()
        rows = [line.split(",")[:4] for line in lines[1:30]] + [["c99", "50", "k1", "1950"], ["c3", "40", "k7", "1960"]]
        names = [[f"c{i}" for i in range(9)], None, ["k0", "k1", "k2"], None]  # in the order of their bytes
        numbers = np.array([[float(cell) if not known else known.index(cell) if cell in known else -1
                             for cell, known in zip(row, names)] for row in rows], np.float32)
        model = keras.models.load_model(os.path.join(folder, kind))
        report.values(f"table: {kind} in Keras", model.predict(numbers, verbose=0).ravel(), wanted, 1e-5, 1)
        if kind == "t.keras":  # h5_state says why
            model.fit(numbers, np.arange(len(rows), dtype=np.float32), epochs=1, verbose=0)
        model.save(os.path.join(folder, "back.keras"))
        np.savez(os.path.join(folder, "x.npz"), x=numbers)
        command(folder, "predict", "--load", "back.keras", "--data", "npz:x.npz", "--out", "p.npy")
        report.values(f"table: {kind} back from Keras", np.load(os.path.join(folder, "p.npy")).ravel(),
                      model.predict(numbers, verbose=0), 1e-5, 1)


def main():
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, rows) in MODELS.items():
            for optimizer in OPTIMIZERS if make in ALL_OPTIMIZERS else ["adam"]:
                train(report, folder, name, make, rows, optimizer)
            files(report, folder, name, make, rows)
            if make in COMMANDS:
                commands(report, folder, name, make, rows)
        policies(report, folder)
        lookups(report, folder)
        integer_lookups(report, folder)
        split_texts(report, folder)
        texts(report, folder)
        tables(report, folder)
        refused(report, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
