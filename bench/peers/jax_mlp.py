"""The network of `muster-bench mlp` in JAX; see peer.py."""

import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

sys.dont_write_bytecode = True  # nothing of ours lands beside the sources
import peer

CORES = len(os.sched_getaffinity(0))

# A jitted step a call, which is what its guide does: "outside-step" cuts the batch outside of it, "inside-step" in it.
# "loop" is lax.scan over as many steps as a call does. All give up the old state for the new one (donate_argnums).
SINGLE = ["outside-step", "inside-step", "loop"]
# "reading": the loss is read after each step, and the old state is kept until then: a step that fails can be made again.
CONFIGS = {"one-thread": SINGLE, "all-cores": SINGLE, "reading": ["read-step"]}


def make_state(jax, jnp):
    """(parameters, averages)"""
    keys = jax.random.split(jax.random.key(1))
    parameters = {"hidden_weights": 0.1 * jax.random.truncated_normal(keys[0], -2, 2, (784, peer.HIDDEN)),
                  "hidden_biases": jnp.zeros(peer.HIDDEN),
                  "output_weights": 0.1 * jax.random.truncated_normal(keys[1], -2, 2, (peer.HIDDEN, 10)),
                  "output_biases": jnp.zeros(10)}
    return parameters, {name: value.copy() for name, value in parameters.items()}


def make_step(jax, jnp, with_loss=False):
    """The function step(state, x, y, at) that gives the state after step number `at`; WITH_LOSS: and the loss."""

    def loss(parameters, x, y):
        hidden = jax.nn.relu(x @ parameters["hidden_weights"] + parameters["hidden_biases"])
        logits = hidden @ parameters["output_weights"] + parameters["output_biases"]
        entropy = -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1).mean()
        squares = sum(jnp.sum(parameters[name] ** 2) for name in ("hidden_weights", "output_weights"))
        return entropy + peer.L2 / 2 * squares

    def step(state, x, y, at):
        parameters, averages = state
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        learning_rate = peer.LEARNING_RATE * peer.DECAY_RATE ** (at / peer.DECAY_STEPS)
        keep = 1.0 - jnp.minimum(peer.AVERAGE_DECAY, (1.0 + at) / (10.0 + at))
        parameters = jax.tree.map(lambda p, g: p - learning_rate * g, parameters, gradients)
        averages = jax.tree.map(lambda a, p: a - keep * (a - p), averages, parameters)
        return ((parameters, averages), value) if with_loss else (parameters, averages)

    return step


def make_run(jax, jnp, variant, data):
    """The function run(count)."""
    pixels, labels = (jnp.asarray(part) for part in data)
    batches = data[0].shape[0] // peer.BATCH
    state = make_state(jax, jnp)
    step = make_step(jax, jnp)
    position = 0

    def cut_and_step(state, pixels, labels, at):
        begin = at % batches * peer.BATCH
        x = jax.lax.dynamic_slice_in_dim(pixels, begin, peer.BATCH)
        y = jax.lax.dynamic_slice_in_dim(labels, begin, peer.BATCH)
        return step(state, x, y, at.astype(jnp.float32))

    def loop(state, pixels, labels, at, count):
        def body(state, i):
            return cut_and_step(state, pixels, labels, at + i), None

        return jax.lax.scan(body, state, jnp.arange(count))[0]

    outside = jax.jit(step, donate_argnums=0)
    inside = jax.jit(cut_and_step, donate_argnums=0)
    reading = jax.jit(make_step(jax, jnp, True))
    scanned = jax.jit(loop, donate_argnums=0, static_argnums=4)

    def run(count):
        nonlocal state, position
        if variant == "loop":
            state = scanned(state, pixels, labels, jnp.int32(position), count)
        for at in range(position, position + count) if variant != "loop" else ():
            begin = at % batches * peer.BATCH
            if variant == "inside-step":
                state = inside(state, pixels, labels, jnp.int32(at))
                continue
            batch = data[0][begin:begin + peer.BATCH], data[1][begin:begin + peer.BATCH]
            if variant == "read-step":
                state, loss = reading(state, *batch, jnp.float32(at))
                float(loss)
            else:
                state = outside(state, *batch, jnp.float32(at))
        position += count
        jax.block_until_ready(state)

    return run


def run_config(config, variant, arguments):
    # XLA has as many threads as it sees cores.
    if config == "one-thread":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import jax
    import jax.numpy as jnp

    pixels, labels = peer.load(arguments.data)
    run = make_run(jax, jnp, variant, (pixels, labels.astype("int32")))
    peer.measure(run, peer.BATCH, jax.__version__)


if __name__ == "__main__":
    sys.exit(peer.main("jax", CONFIGS, run_config))
