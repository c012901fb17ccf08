"""The network of `muster-bench mlp` in TensorFlow 2; see peer.py."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.dont_write_bytecode = True  # nothing of ours lands beside the sources
import peer

CORES = len(os.sched_getaffinity(0))
REPLICAS = 2

# A call of the compiled function does one step or many ("loop"); "jit" compiles with XLA; "wide" lets every replica use
# all cores; "guide" is Keras' fit, which compiles with XLA where it can.
CONFIGS = {
    "one-thread": ["guide", "step", "loop", "jit-step", "jit-loop"],
    "all-cores": ["guide", "step", "loop", "jit-step", "jit-loop"],
    f"mirrored-{REPLICAS}": ["guide", "wide-guide", "step", "loop", "wide-step", "wide-loop"],
}


class Network:
    """Variables, their moving averages, and one training step."""

    def __init__(self, tf):
        self.tf = tf

        def variable(value, name):
            return tf.Variable(value, name=name)

        hidden = tf.random.truncated_normal([784, peer.HIDDEN], stddev=0.1, seed=1)
        output = tf.random.truncated_normal([peer.HIDDEN, 10], stddev=0.1, seed=2)
        self.variables = [variable(hidden, "hidden_weights"), variable(tf.zeros([peer.HIDDEN]), "hidden_biases"),
                          variable(output, "output_weights"), variable(tf.zeros([10]), "output_biases")]
        self.averages = [variable(v.read_value(), v.name.split(":")[0] + "_average") for v in self.variables]

    def loss(self, pixels, labels, variables):
        tf = self.tf
        w1, b1, w2, b2 = variables
        logits = tf.matmul(tf.nn.relu(tf.matmul(pixels, w1) + b1), w2) + b2
        entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(entropy) + peer.L2 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))

    def gradients(self, pixels, labels):
        tf = self.tf
        variables = [tf.convert_to_tensor(v) for v in self.variables]
        with tf.GradientTape() as tape:
            tape.watch(variables)
            loss = self.loss(pixels, labels, variables)
        return tape.gradient(loss, variables)

    def rates(self, step):
        tf = self.tf
        at = tf.cast(step, tf.float32)
        decay = tf.minimum(peer.AVERAGE_DECAY, (1.0 + at) / (10.0 + at))
        return peer.LEARNING_RATE * tf.pow(peer.DECAY_RATE, at / peer.DECAY_STEPS), 1.0 - decay

    @staticmethod
    def update(variable, gradient, average, learning_rate, keep):
        value = variable.assign_sub(learning_rate * gradient, read_value=True)
        average.assign_sub(keep * (average - value), read_value=False)


def one_process(tf, variant, data):
    pixels, labels = (tf.constant(part) for part in data)
    batches = data[0].shape[0] // peer.BATCH
    network = Network(tf)

    # XLA gets the batch, not the data to cut it from, which it would copy each step.
    @tf.function(jit_compile=variant.startswith("jit") or None)
    def train(x, y, at):
        learning_rate, keep = network.rates(at)
        for v, g, a in zip(network.variables, network.gradients(x, y), network.averages):
            network.update(v, g, a, learning_rate, keep)

    def step(at):
        begin = tf.cast(at % batches, tf.int32) * peer.BATCH
        train(tf.slice(pixels, [begin, 0], [peer.BATCH, 784]), tf.slice(labels, [begin], [peer.BATCH]), at)

    return network, step


def mirrored(tf, variant, data):
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(REPLICAS)])
    batches = data[0].shape[0] // peer.BATCH

    def on_each(part):
        return strategy.experimental_distribute_values_from_function(lambda _: tf.constant(part))

    pixels, labels = (on_each(part) for part in data)
    with strategy.scope():
        network = Network(tf)

    def apply(distribution, gradients, learning_rate, keep):
        pairs = zip(gradients, network.variables)
        means = distribution.extended.batch_reduce_to(tf.distribute.ReduceOp.MEAN, list(pairs))
        for v, g, a in zip(network.variables, means, network.averages):
            distribution.extended.update(v, network.update, args=(g, a, learning_rate, keep), group=False)

    def replica(at, all_pixels, all_labels):
        context = tf.distribute.get_replica_context()
        batch = (at * REPLICAS + tf.cast(context.replica_id_in_sync_group, at.dtype)) % batches
        begin = tf.cast(batch, tf.int32) * peer.BATCH
        x = tf.slice(all_pixels, [begin, 0], [peer.BATCH, 784])
        y = tf.slice(all_labels, [begin], [peer.BATCH])
        learning_rate, keep = network.rates(at)
        context.merge_call(apply, args=(network.gradients(x, y), learning_rate, keep))

    return network, lambda at: strategy.run(replica, args=(at, pixels, labels))


def keras_model(tf):
    """The same network for fit(); its moving average has a constant decay, which is as much work."""
    keras = tf.keras

    def dense(units, **options):
        return keras.layers.Dense(units, kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.1),
                                  kernel_regularizer=keras.regularizers.L2(peer.L2 / 2), **options)

    model = keras.Sequential([keras.Input((784,)), dense(peer.HIDDEN, activation="relu"), dense(10)])
    rate = keras.optimizers.schedules.ExponentialDecay(peer.LEARNING_RATE, peer.DECAY_STEPS, peer.DECAY_RATE)
    model.compile(keras.optimizers.SGD(rate, use_ema=True, ema_momentum=peer.AVERAGE_DECAY, ema_overwrite_frequency=None),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def measure_fit(tf, replicas, data):
    strategy = tf.distribute.get_strategy()
    if replicas > 1:
        strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
    batch = peer.BATCH * replicas
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch, drop_remainder=True).repeat()
    with strategy.scope():
        model = keras_model(tf)

    def run(count):
        model.fit(dataset.prefetch(tf.data.AUTOTUNE), steps_per_epoch=count, verbose=0)

    peer.measure(run, batch, tf.__version__, peer.GUIDE_STEPS_A_CALL)


def run_config(config, variant, arguments):
    import tensorflow as tf

    replicas = REPLICAS if config.startswith("mirrored") else 1
    # A pool of one thread for each replica, or pools as wide as the machine.
    wide = config == "all-cores" or variant.startswith("wide")
    tf.config.threading.set_intra_op_parallelism_threads(CORES if wide else 1)
    tf.config.threading.set_inter_op_parallelism_threads(replicas if replicas > 1 else 1)
    if replicas > 1:
        logical = [tf.config.LogicalDeviceConfiguration() for _ in range(replicas)]
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], logical)
    data = peer.load(arguments.data)
    if variant.endswith("guide"):
        measure_fit(tf, replicas, data)
        return
    network, step = (mirrored if replicas > 1 else one_process)(tf, variant, data)
    position = 0

    @tf.function
    def one(at):
        step(at)

    @tf.function
    def many(at, count):
        for i in tf.range(count):
            step(at + i)

    def run(count):
        nonlocal position
        if variant.endswith("loop"):
            many(tf.constant(position, tf.int64), tf.constant(count, tf.int64))
        else:
            for i in range(count):
                one(tf.constant(position + i, tf.int64))
        position += count

    peer.measure(run, peer.BATCH * replicas, tf.__version__)


if __name__ == "__main__":
    sys.exit(peer.main("tensorflow", CONFIGS, run_config))
