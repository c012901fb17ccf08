"""Random models against Keras: the summary letter by letter, and the weights by name, shape and order.

    models_test.py [--count N] [--seed N]

Stacks and graphs of layers: several inputs and outputs, layers that are shared, layers and inputs that no output needs,
sources of two and three dimensions. Needs TensorFlow; exits 77 (skipped) where it is not installed.
"""

import argparse
import json
import random
import sys

import muster

ACTIVATIONS = ["linear", "relu", "tanh", "sigmoid"]
MERGES = {"add": "Add", "multiply": "Multiply", "average": "Average", "maximum": "Maximum", "minimum": "Minimum"}
LONG_NAME = "a_layer_with_a_name_of_more_than_thirty_letters"


def entry_of(kind, options):
    inside = options.pop("inside", None)
    return {"type": kind, "options": options, **({"inside": inside} if inside else {})}


class Builder:
    """A model, written down for Muster and built in Keras at the same time."""

    def __init__(self, keras, rng):
        self.keras, self.rng = keras, rng
        self.layers, self.shapes, self.tensors, self.objects, self.names = [], [], [], [], set()
        self.inside = False  # of a TimeDistributed

    def name(self, options):
        """Sometimes a name of its own."""
        if self.inside:  # where Keras has numbers over the whole model
            options["name"] = "inside"
            return options
        if self.rng.random() < 0.3:
            name = self.rng.choice(["encode", "head", "left.one", "x", LONG_NAME]) + "_n" + str(len(self.layers))
            options["name"] = name
        return options

    def add(self, kind, options, layer, src, share=None):
        entry = {"src": src} if src else {}
        if share is None:
            entry.update(entry_of(kind, options))
        else:
            entry["share"] = share
        self.layers.append(entry)
        self.objects.append(layer)
        tensors = [self.tensors[i] for i in src]
        self.tensors.append(layer(tensors if len(tensors) > 1 else tensors[0]) if src else layer)
        self.shapes.append(tuple(self.tensors[-1].shape[1:]) if src else None)

    def input(self):
        shape = self.rng.choice([(4,), (6,), (5, 3), (7,), (2, 3, 4), (9, 8, 2), (12, 3)])
        options = self.name({})
        tensor = self.keras.Input(shape, **options)
        self.layers.append({"type": "input", "options": {"shape": list(shape), **options}})
        self.objects.append(None)
        self.tensors.append(tensor)
        self.shapes.append(shape)

    def spatial(self, shape):
        """The same of a layer for sources of this shape; None where there is none."""
        layers, rng = self.keras.layers, self.rng
        dims, padding = len(shape) - 1, rng.choice(["valid", "same"])
        if dims not in (1, 2) or (min(shape[:-1]) < 3 and padding == "valid"):
            return None
        kind = rng.choice(["conv", "conv", "depthwise", "max_pooling", "average_pooling", "global_max_pooling",
                           "global_average_pooling", "zero_padding", "batch_normalization", "re_lu", "transposed",
                           "up_sampling", "separable", "cropping", "permute", "layer_normalization", "group_normalization", "unit_normalization",
                           "lstm", "gru", "simple_rnn"])
        options, size, bias = self.name({}), rng.choice([1, 2, 3]), rng.random() < 0.7
        name, use = dict(options), {} if bias else {"no_bias": True}
        if kind == "conv":
            options.update(filters=rng.choice([1, 4, 32]), kernel_size=size, padding=padding)
            options.update(strides=rng.choice([1, 2]), activation=rng.choice(ACTIVATIONS))
            layer = getattr(layers, f"Conv{dims}D")(use_bias=bias, **options)
            return f"conv{dims}d", dict(options, **use), layer
        if kind == "depthwise" and dims == 2:
            options.update(kernel_size=size, padding=padding, depth_multiplier=rng.choice([1, 3]))
            return "depthwise_conv2d", dict(options, **use), layers.DepthwiseConv2D(use_bias=bias, **options)
        if kind in ("max_pooling", "average_pooling"):
            options.update(pool_size=size, padding=padding)
            layer = getattr(layers, f"{kind.split('_')[0].title()}Pooling{dims}D")(**options)
            return f"{kind}{dims}d", options, layer
        if kind.startswith("global"):
            layer = getattr(layers, f"Global{kind.split('_')[1].title()}Pooling{dims}D")(**options)
            return f"{kind}{dims}d", options, layer
        if kind in ("zero_padding", "cropping"):
            sides = [rng.choice([0, 1] if kind == "cropping" else [0, 1, 2]) for _ in range(2 * dims)]
            sides = sides if kind == "zero_padding" or min(shape[:-1]) > 2 else [0] * len(sides)
            class_name = {"zero_padding": "ZeroPadding", "cropping": "Cropping"}[kind]
            layer = getattr(layers, f"{class_name}{dims}D")(sides if dims == 1 else (sides[:2], sides[2:]), **name)
            return f"{kind}{dims}d", dict(name, sides=sides), layer
        if kind == "separable":
            options.update(filters=rng.choice([1, 4]), kernel_size=size, padding=padding, strides=rng.choice([1, 2]),
                           depth_multiplier=rng.choice([1, 3]))
            layer = getattr(layers, f"SeparableConv{dims}D")(use_bias=bias, **options)
            return f"separable_conv{dims}d", dict(options, **use), layer
        if kind == "permute":
            dims_of = rng.sample(range(1, dims + 2), dims + 1)
            return kind, dict(name, dims=dims_of), layers.Permute(dims_of, **name)
        if kind == "depthwise" and dims == 1:
            options.update(kernel_size=size, padding=padding, depth_multiplier=rng.choice([1, 3]))
            return "depthwise_conv1d", dict(options, **use), layers.DepthwiseConv1D(use_bias=bias, **options)
        if kind == "up_sampling" and dims == 1:
            return "up_sampling1d", dict(name, size=3), layers.UpSampling1D(3, **name)
        if kind == "batch_normalization":
            center, scale = rng.random() < 0.7, rng.random() < 0.7
            chosen = dict(name, **({} if center else {"no_center": True}), **({} if scale else {"no_scale": True}))
            return kind, chosen, layers.BatchNormalization(center=center, scale=scale, **name)
        if kind == "layer_normalization":
            chosen = dict(name, **({"axes": [-2, -1]} if dims == 1 and rng.random() < 0.5 else {}))
            return kind, chosen, layers.LayerNormalization(**dict(name, axis=chosen.get("axes", -1)))
        if kind in ("lstm", "gru", "simple_rnn") and dims == 1:
            chosen = dict(options, units=rng.choice([1, 3]), return_sequences=rng.random() < 0.5)
            layer = getattr(layers, "SimpleRNN" if kind == "simple_rnn" else kind.upper())(use_bias=bias, **chosen)
            return kind, dict(chosen, **use), layer
        if kind == "unit_normalization":
            return kind, options, layers.UnitNormalization(**options)
        if kind == "group_normalization":
            options.update(groups=rng.choice([1, -1, shape[-1]]))
            return kind, options, layers.GroupNormalization(**options)
        if kind == "transposed" and dims == 2:
            options.update(filters=rng.choice([1, 4]), kernel_size=size, padding=padding, strides=rng.choice([1, 2, 3]))
            return "conv2d_transpose", dict(options, **use), layers.Conv2DTranspose(use_bias=bias, **options)
        if kind == "up_sampling" and dims == 2:
            options.update(interpolation=rng.choice(["nearest", "bilinear"]))
            return "up_sampling2d", dict(options, size=3), layers.UpSampling2D(3, **options)
        return "re_lu", dict(name, max_value=6.0), layers.ReLU(6.0, **name)

    def each(self, shape):
        """A layer applied to each step; None where that cannot be."""
        self.inside = True
        inside, options, layer = self.kind(shape[1:])
        self.inside = False
        if inside in ("batch_normalization", "normalization"):
            return None
        name = self.name({})
        return "time_distributed", dict(name, inside={"type": inside, "options": options}), \
            self.keras.layers.TimeDistributed(layer, **name)

    def kind(self, shape=()):
        """Kind, options for Muster and layer of Keras, of a layer with one source of this shape."""
        layers, rng = self.keras.layers, self.rng
        if len(shape) > 1 and not self.inside and rng.random() < 0.1:
            found = self.each(shape)
            if found:
                return found
        found = self.spatial(shape) if rng.random() < 0.7 else None
        if found:
            return found
        kind = rng.choice(["dense", "dense", "dense", "flatten", "dropout", "activation", "normalization", "repeat"])
        if kind == "dense":
            options = self.name({"units": rng.choice([1, 3, 8, 1000]), "activation": rng.choice(ACTIVATIONS)})
            bias = rng.random() < 0.7
            layer = layers.Dense(use_bias=bias, **options)
            return kind, dict(options, **({} if bias else {"no_bias": True})), layer
        options = self.name({})
        if kind == "normalization":
            return kind, options, layers.Normalization(**options)
        if kind == "repeat" and len(shape) == 1:
            return "repeat_vector", dict(options, n=3), layers.RepeatVector(3, **options)
        if kind in ("flatten", "repeat"):
            return "flatten", options, layers.Flatten(**options)
        if kind == "dropout":
            if any(layer.get("type") == "multi_head_attention" for layer in self.layers):
                options.setdefault("name", f"drop_n{len(self.layers)}")  # Keras' attention takes a number for one inside
            return kind, dict(options, rate=0.25), layers.Dropout(0.25, **options)
        activation = rng.choice(ACTIVATIONS)
        return kind, dict(options, activation=activation), layers.Activation(activation, **options)

    def attention(self, src):
        """A layer that looks at itself, or at another of the same last dimension."""
        rng = self.rng
        value = rng.choice([i for i, shape in enumerate(self.shapes) if len(shape) == 2])
        bias, options = rng.random() < 0.7, dict(self.name({}), num_heads=2, key_dim=3)
        if rng.random() < 0.5:
            options["value_dim"] = 4
        layer = self.keras.layers.MultiHeadAttention(use_bias=bias, **options)
        use = {} if bias else {"no_bias": True}
        tensors = [self.tensors[src], self.tensors[value]]
        self.layers.append({"src": [src, value], "type": "multi_head_attention", "options": dict(options, **use)})
        self.objects.append(layer)
        self.tensors.append(layer(*tensors))
        self.shapes.append(tuple(self.tensors[-1].shape[1:]))

    def one(self):
        src = self.rng.randrange(len(self.layers))
        if len(self.shapes[src]) == 2 and self.rng.random() < 0.3:
            return self.attention(src)
        kind, options, layer = self.kind(self.shapes[src])
        self.add(kind, options, layer, [src])

    def again(self):
        """A layer once more, on a source of the shape that its weights are for."""
        built = [i for i, layer in enumerate(self.objects) if layer is not None and len(self.layers[i]["src"]) == 1]
        if not built:
            return self.one()
        i = self.rng.choice(built)
        shape = self.tensors[self.layers[i]["src"][0]].shape
        fitting = [k for k, tensor in enumerate(self.tensors) if tensor.shape == shape]
        self.add(None, None, self.objects[i], [self.rng.choice(fitting)], share=i)

    def merge(self):
        first = self.rng.randrange(len(self.layers))
        alike = [i for i, tensor in enumerate(self.tensors) if tensor.shape == self.tensors[first].shape]
        src = [first] + [self.rng.choice(alike) for _ in range(self.rng.choice([1, 1, 2]))]
        options = self.name({})
        if self.rng.random() < 0.4:
            return self.add("concatenate", options, self.keras.layers.Concatenate(**options), src)
        kind = self.rng.choice(list(MERGES))
        layer = getattr(self.keras.layers, MERGES[kind])(**options)
        return self.add("merge", dict(options, kind=kind), layer, src)


def stack(keras, rng):
    builder = Builder(keras, rng)
    builder.input()
    layers, tensor = [builder.tensors[0]], builder.tensors[0]
    for _ in range(rng.randrange(1, 6)):
        kind, options, layer = builder.kind(tuple(tensor.shape[1:]))
        builder.layers.append(entry_of(kind, options))
        layers.append(layer)
        tensor = layer(tensor)
    return {"layers": builder.layers}, keras.Sequential(layers)


def graph(keras, rng):
    builder = Builder(keras, rng)
    for _ in range(rng.choice([1, 1, 2, 3])):
        builder.input()
    inputs = list(builder.tensors)
    if rng.random() < 0.15:  # a chain
        for _ in range(rng.randrange(1, 5)):
            kind, options, layer = builder.kind(builder.shapes[-1])
            builder.add(kind, options, layer, [len(builder.layers) - 1])
        outputs = [len(builder.layers) - 1]
    else:
        for _ in range(rng.randrange(2, 12)):
            rng.choice([builder.one, builder.one, builder.one, builder.again, builder.merge])()
        places = list(range(len(inputs), len(builder.layers)))
        outputs = rng.sample(places, min(len(places), rng.choice([1, 1, 2, 3])))
    model = keras.Model(inputs, [builder.tensors[i] for i in outputs])
    return {"layers": builder.layers, "outputs": outputs}, model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    muster.tensorflow()
    import keras
    rng, report = random.Random(arguments.seed), muster.Report()
    cases, models = [], []
    for i in range(arguments.count):
        keras.utils.clear_session()
        case, model = (stack if i % 4 == 0 else graph)(keras, rng)
        cases.append(case)
        prefix = f"{model.name}/" if i % 4 == 0 else ""  # of the paths in a stack only
        models.append((muster.summary(model), [[weight.path.removeprefix(prefix), list(weight.shape)]
                                        for weight in model.weights]))
    for i, (answer, (table, weights)) in enumerate(zip(muster.evaluate(cases, "models"), models)):
        report.check(f"summary of model {i} {json.dumps(cases[i])}", answer["summary"] == table,
                     "\n" + answer["summary"], "\n" + table)
        report.check(f"weights of model {i} {json.dumps(cases[i])}", answer["weights"] == weights,
                     answer["weights"], weights)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
