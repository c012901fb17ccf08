"""Networks of keras.applications, and those that tutorials put on top of them, there and back: 20 steps here from Keras'
file with Keras' losses, and 20 more in Keras from Muster's. Dropout has the rate 0.

The first steps of a network with batch normalizations multiply roundings: with the usual rates Keras in 32 bits leaves
itself in 64 bits within ten steps. So their gradients are clipped and their rates are small."""

import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402
import round_trip  # noqa: E402
from round_trip import KERAS, Network  # noqa: E402

L = keras.layers
ROWS = 16
random = np.random.RandomState(3)
RATE, CLIP = 1e-4, 1.0


def of_classes():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def pictures(size):
    return random.randint(0, 256, (ROWS, size, size, 3)).astype(np.float32)


def without_dropout(model):
    for layer in model._flatten_layers():
        if isinstance(layer, L.Dropout):
            layer.rate = 0.0
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    return copy


def application(name, size, batch, tolerance, optimizer):
    make = getattr(keras.applications, name)
    model = without_dropout(make(weights=None, input_shape=(size, size, 3), classes=10, classifier_activation=None))
    model.compile(optimizer, of_classes())
    return Network(model, pictures(size), random.randint(0, 10, ROWS).astype(np.int32), batch, tolerance=tolerance,
                   kinds=(KERAS,))


def clipped():
    return keras.optimizers.SGD(RATE, global_clipnorm=CLIP)


def efficientnet_b0():
    return application("EfficientNetB0", 64, 8, 1e-4, clipped())


def efficientnet_v2_b0():
    return application("EfficientNetV2B0", 64, 8, 1e-4, clipped())


def convnext_tiny():
    return application("ConvNeXtTiny", 32, 4, 1e-5, keras.optimizers.SGD(RATE))


def inception_resnet_v2():
    return application("InceptionResNetV2", 75, 8, 3e-4, clipped())


def on_top(base, size, optimizer):
    """A classifier of two kinds of pictures that are mirrored in themselves."""
    start = keras.Input((size, size, 3))
    x = keras.Sequential([L.RandomFlip("horizontal"), L.RandomRotation(0.0)])(start)
    x = keras.applications.mobilenet_v2.preprocess_input(x)
    x = L.Dropout(0.0)(L.GlobalAveragePooling2D()(base(x, training=False)))
    model = keras.Model(start, L.Dense(1)(x))
    model.compile(optimizer, keras.losses.BinaryCrossentropy(from_logits=True))
    rows = pictures(size)
    return Network(model, np.round((rows + rows[:, :, ::-1]) / 2), random.randint(0, 2, (ROWS, 1)).astype(np.int32), 8,
                   tolerance=1e-4)


def base_of(name, size, **options):
    """With moving statistics of pictures: with those of a new layer, numbers vanish from layer to layer."""
    base = getattr(keras.applications, name)(input_shape=(size, size, 3), include_top=False, weights=None, **options)
    norms = [layer for layer in base.layers if isinstance(layer, L.BatchNormalization)]
    momentum = norms[0].momentum
    for layer in norms:
        layer.momentum = 0.0
    base(pictures(size) / 127.5 - 1, training=True)
    for layer in norms:
        layer.momentum = momentum
    return base


def mobilenet_frozen():
    base = base_of("MobileNetV2", 32, alpha=0.35)
    base.trainable = False
    return on_top(base, 32, keras.optimizers.Adam(0.001, epsilon=1e-4))


def mobilenet_tuned():
    """The second half of the tutorial: layers from the hundredth on are trained."""
    base = base_of("MobileNetV2", 64, alpha=0.35)
    for layer in base.layers[:100]:
        layer.trainable = False
    return on_top(base, 64, clipped())


def efficientnet_frozen():
    base = without_dropout(base_of("EfficientNetB0", 32))
    base.trainable = False
    return on_top(base, 32, keras.optimizers.Adam(0.001, epsilon=1e-4))


def segmentation():
    """A U-Net over a MobileNetV2 that is frozen; the labels are pictures of one channel."""
    names = ["block_1_expand_relu", "block_3_expand_relu", "block_6_expand_relu", "block_13_expand_relu",
             "block_16_project"]
    base = base_of("MobileNetV2", 64, alpha=0.35)
    down = keras.Model(base.input, [base.get_layer(name).output for name in names])
    down.trainable = False
    start = keras.Input((64, 64, 3))
    *skips, x = down(start)
    for filters, skip in zip((32, 24, 16, 8), reversed(skips)):
        up = keras.Sequential([L.Conv2DTranspose(filters, 3, strides=2, padding="same", use_bias=False,
                                                 kernel_initializer=tf.random_normal_initializer(0.0, 0.02)),
                               L.BatchNormalization(), L.ReLU()])
        x = L.Concatenate()([up(x), skip])
    model = keras.Model(start, L.Conv2DTranspose(3, 3, strides=2, padding="same")(x))
    model.compile(keras.optimizers.Adam(1e-4, epsilon=1e-4), of_classes())
    return Network(model, pictures(64) / 255, random.randint(0, 3, (ROWS, 64, 64, 1)).astype(np.int32), 8,
                   tolerance=1e-4)


NETWORKS = {make.__name__: make for make in (efficientnet_b0, efficientnet_v2_b0, convnext_tiny, inception_resnet_v2,
                                             mobilenet_frozen, mobilenet_tuned, efficientnet_frozen, segmentation)}


def main(*names):
    report = muster.Report()
    for name in names or NETWORKS:
        keras.utils.clear_session()
        keras.utils.set_random_seed(5)
        with tempfile.TemporaryDirectory() as folder:
            round_trip.compare(report, folder, name, NETWORKS[name](), lambda text: print(text, flush=True))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
