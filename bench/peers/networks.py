"""TensorFlow and PyTorch on the networks of `muster-bench text_cnn` and `muster-bench mobilenet_v2`.

    networks.py text_cnn|mobilenet_v2 [quick]

Standard input has a line for each measurement, "PEER SECONDS"; of each, the examples a second are printed, 0 where there is
no such peer. When a peer is named first, each way of it is tried in a process of its own, and the fastest is kept; quick:
only the ways that were the fastest so far on most processors. The
processes compute nothing in between. With --config and --variant it is one way of one peer,
as peer.py says.
"""

import os
import sys

sys.dont_write_bytecode = True  # nothing of ours lands beside the sources
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import peer

CORES = len(os.sched_getaffinity(0))
NETWORKS = ["text_cnn", "mobilenet_v2"]
CLASSES = {"text_cnn": 46, "mobilenet_v2": 1000}
BATCH = {"text_cnn": 32, "mobilenet_v2": 16}
STEPS_A_CALL = {"text_cnn": 20, "mobilenet_v2": 1}
WARM_UP = {"text_cnn": 40, "mobilenet_v2": 2}
# guide: Keras' fit; step: a compiled function a step; xla: by XLA; eager: as PyTorch's tutorials; last: channels last;
# compiled: torch.compile; one-thread: step or last on one thread
WAYS = {"tensorflow": ["guide", "step", "xla", "one-thread"], "pytorch": ["eager", "last", "compiled", "one-thread"],
        "tensorflow_bf16": ["guide", "step"], "pytorch_bf16": ["last", "compiled"]}
QUICK_WAYS = {"tensorflow": ["step"], "pytorch": ["last"]}
WORDS, LENGTH = 30982, 300
TRIAL = 2  # seconds


def random_data(network):
    import numpy as np

    generator = np.random.default_rng(1)
    labels = generator.integers(0, CLASSES[network], 4 * BATCH[network])
    if network == "text_cnn":
        return generator.integers(0, WORDS, (len(labels), LENGTH)).astype(np.int32), labels
    return generator.random((len(labels), 224, 224, 3), dtype=np.float32), labels


def keras_model(keras, network):
    if network == "mobilenet_v2":
        return keras.applications.MobileNetV2(weights=None, classifier_activation=None), keras.optimizers.Adam(0.001)
    layers = keras.layers
    return keras.Sequential([
        keras.Input((LENGTH,)), layers.Embedding(WORDS, 7), layers.Conv1D(64, 5, activation="relu"),
        layers.MaxPool1D(), layers.Conv1D(32, 3, activation="relu"), layers.MaxPool1D(), layers.Flatten(),
        layers.Dense(46)]), keras.optimizers.Nadam(0.001)


def tensorflow(network, way, is_bf16):
    import tensorflow as tf

    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16" if is_bf16 else "float32")
    tf.config.threading.set_intra_op_parallelism_threads(1 if way == "one-thread" else CORES)
    model, optimizer = keras_model(tf.keras, network)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    batch = BATCH[network]
    data = tf.data.Dataset.from_tensor_slices(random_data(network)).batch(batch).cache().repeat().prefetch(2)
    if way == "guide":
        model.compile(optimizer, loss)
        return lambda count: model.fit(data, steps_per_epoch=count, verbose=0), tf.__version__
    batches = iter(data)

    @tf.function(jit_compile=way == "xla" or None)
    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
        return value

    def run(count):
        for _ in range(count):
            value = step(*next(batches))
        value.numpy()

    return run, tf.__version__


def torch_mobilenet(torch):
    """The layers of Sandler et al., table 2."""
    nn = torch.nn

    def normalized(inputs, outputs, size, stride=1, groups=1, clipped=True):
        layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
                  nn.BatchNorm2d(outputs, eps=1e-3, momentum=1e-3)]
        return nn.Sequential(*layers, *([nn.ReLU6(inplace=True)] if clipped else []))

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride, expansion):
            super().__init__()
            wide = inputs * expansion
            first = [normalized(inputs, wide, 1)] if expansion > 1 else []
            self.layers = nn.Sequential(*first, normalized(wide, wide, 3, stride, wide),
                                        normalized(wide, outputs, 1, clipped=False))
            self.adds = stride == 1 and inputs == outputs

        def forward(self, x):
            return x + self.layers(x) if self.adds else self.layers(x)

    channels, layers = 32, [normalized(3, 32, 3, 2)]
    for expansion, outputs, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                              (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(count):
            layers.append(Block(channels, outputs, 1 if i else stride, expansion))
            channels = outputs
    layers += [normalized(channels, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers)


def torch_text(torch):
    nn = torch.nn

    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(WORDS, 7)
            self.layers = nn.Sequential(nn.Conv1d(7, 64, 5), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(64, 32, 3),
                                        nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(73 * 32, 46))

        def forward(self, x):
            return self.layers(self.embedding(x).transpose(1, 2))

    return Text()


def pytorch(network, way, is_bf16):
    import torch

    torch.set_num_threads(1 if way == "one-thread" else CORES)
    x, y = (torch.from_numpy(part) for part in random_data(network))
    model = torch_mobilenet(torch) if network == "mobilenet_v2" else torch_text(torch)
    if network == "mobilenet_v2":
        x = x.permute(0, 3, 1, 2).contiguous()
        if way != "eager":
            x, model = x.to(memory_format=torch.channels_last), model.to(memory_format=torch.channels_last)
        optimizer = torch.optim.Adam(model.parameters(), 0.001)
    else:
        optimizer = torch.optim.NAdam(model.parameters(), 0.001)
    called = torch.compile(model) if way == "compiled" else model
    batch, at = BATCH[network], 0

    def run(count):
        nonlocal at
        for _ in range(count):
            begin = at % (len(y) // batch) * batch
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=is_bf16):
                loss = torch.nn.functional.cross_entropy(called(x[begin:begin + batch]), y[begin:begin + batch])
            loss.backward()
            optimizer.step()
            at += 1

    return run, torch.__version__


def fastest(name, network, ways):
    """The contestant of the fastest way of this peer; None where none runs."""
    best, best_rate = None, 0
    for way in ways:
        try:
            contestant = peer.Contestant(__file__, name, way, network)
            rate = contestant.window(TRIAL)["examples_per_sec"]
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        print(f"{name}, {way}: {rate:.1f} examples/s, first step after {contestant.first_step:.1f} s", file=sys.stderr)
        if best:
            (contestant if rate < best_rate else best).close()
        if rate > best_rate:
            best, best_rate = contestant, rate
    return best


def ask(network, ways):
    contestants = {}
    for line in sys.stdin:
        name, seconds = line.split()
        if name not in contestants:
            contestants[name] = fastest(name, network, ways[name])
        contestant = contestants[name]
        print(contestant.window(float(seconds))["examples_per_sec"] if contestant else 0, flush=True)
    for contestant in filter(None, contestants.values()):
        contestant.close()


def measure(name, way, arguments):
    network = arguments.data
    peer_name, _, precision = name.partition("_")
    run, version = {"tensorflow": tensorflow, "pytorch": pytorch}[peer_name](network, way, precision == "bf16")
    peer.measure(run, BATCH[network], version, STEPS_A_CALL[network], WARM_UP[network])


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in NETWORKS:
        ask(sys.argv[1], QUICK_WAYS if sys.argv[2:] == ["quick"] else WAYS)
    else:
        sys.exit(peer.main("a peer", WAYS, measure))
