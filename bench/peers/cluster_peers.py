"""What TensorFlow and PyTorch have in place of the clusters of `muster-bench cluster`: two workers, each a process with
one thread, and where there is one a parameter server, on the network and the batch of that benchmark.

    cluster_peers.py --config ps-asynchronous|ps-synchronous|multi-worker|ddp [--seconds 5]

    ps-asynchronous   TensorFlow 1: tf.train.Server, replica_device_setter, between-graph, minimize
    ps-synchronous    the same with SyncReplicasOptimizer
    multi-worker      TensorFlow 2: MultiWorkerMirroredStrategy, a custom loop, collectives over gRPC
    ddp               PyTorch: DistributedDataParallel with Gloo

Prints one JSON line with the examples a second of all workers together. The tasks are children of this process, which
writes to each worker how many steps to make, and reads a line when they are done.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing of ours lands beside the sources
import peer

WORKERS = 2
LEARNING_RATE = 0.1
STEPS_A_CALL = 50
MOST_SECONDS = 120  # that a measurement may take, the start of the tasks included
JOBS = {"ps-asynchronous": 1, "ps-synchronous": 1, "multi-worker": 0, "ddp": 0}  # and how many parameter servers


def batches(directory, worker):
    """Yields batches of this worker for ever: neighbouring ones of each global batch."""
    pixels, labels = peer.load(directory)
    begin = worker * peer.BATCH
    while True:
        yield pixels[begin:begin + peer.BATCH] / 255, labels[begin:begin + peer.BATCH]
        begin = (begin + WORKERS * peer.BATCH) % pixels.shape[0]


def serve(run):
    """Makes steps as the parent asks for them."""
    print("ready", flush=True)
    for line in sys.stdin:
        run(int(line))
        print("done", flush=True)


# ---- TensorFlow 1 ---------------------------------------------------------------------------------------------------


def tensorflow_1(arguments):
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    cluster = tf.train.ClusterSpec({"ps": arguments.hosts[:1], "worker": arguments.hosts[1:]})
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)
    server = tf.train.Server(cluster, arguments.job, arguments.index, config=config)
    if arguments.job == "ps":
        server.join()
    worker_device = f"/job:worker/task:{arguments.index}"
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=worker_device)):
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.int64, [None])

        def layer(value, name, inputs, outputs):
            weights = tf.get_variable(f"{name}/weights", [inputs, outputs],
                                      initializer=tf.truncated_normal_initializer(stddev=0.1))
            return tf.matmul(value, weights) + tf.get_variable(f"{name}/biases", [outputs],
                                                               initializer=tf.zeros_initializer())

        logits = layer(tf.nn.relu(layer(x, "hidden", 784, peer.HIDDEN)), "output", peer.HIDDEN, 10)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        optimizer = tf.train.GradientDescentOptimizer(LEARNING_RATE)
        hooks, chief = [], arguments.index == 0
        if arguments.config == "ps-synchronous":
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=WORKERS,
                                                       total_num_replicas=WORKERS)
            hooks.append(optimizer.make_session_run_hook(chief))
        global_step = tf.train.get_or_create_global_step()
        step = optimizer.minimize(loss, global_step=global_step)
    source = batches(arguments.data, arguments.index)
    # without the filter a session begins when all workers are there, and these wait for the chief, 30 s at a time
    config.device_filters.extend(["/job:ps", worker_device])
    with tf.train.MonitoredTrainingSession(server.target, chief, config=config, hooks=hooks, save_checkpoint_secs=None,
                                           save_summaries_steps=None, log_step_count_steps=None) as session:

        def run(count):
            for _ in range(count):
                pixels, labels = next(source)
                session.run(step, {x: pixels, y: labels})

        # A gradient that comes late is dropped, so that as many steps of each worker may be fewer of the job, and the
        # last ones would wait for ever: each makes steps without end, and COUNT steps are those of the job.
        seen = threading.Condition()
        made = 0

        def run_for_ever():
            nonlocal made
            while True:
                pixels, labels = next(source)
                reached = session.run([step, global_step], {x: pixels, y: labels})[1]
                with seen:
                    made = reached
                    seen.notify()

        def wait_for(count):
            with seen:
                end = made + count
                seen.wait_for(lambda: made >= end)

        if arguments.config == "ps-synchronous":
            threading.Thread(target=run_for_ever, daemon=True).start()
        serve(wait_for if arguments.config == "ps-synchronous" else run)
        os._exit(0)  # the session's end would wait for tokens of the other worker


# ---- TensorFlow 2 ---------------------------------------------------------------------------------------------------


def multi_worker(arguments):
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": arguments.hosts},
                                          "task": {"type": "worker", "index": arguments.index}})
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    keras = tf.keras
    with strategy.scope():
        model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(peer.HIDDEN, activation="relu"),
                                  keras.layers.Dense(10)])
        optimizer = keras.optimizers.SGD(LEARNING_RATE)

    @tf.function
    def step(pixels, labels):
        def replica(x, y):
            with tf.GradientTape() as tape:
                entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
                loss = tf.reduce_sum(entropy) / (peer.BATCH * WORKERS)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

        strategy.run(replica, args=(pixels, labels))

    source = batches(arguments.data, arguments.index)

    def run(count):
        for _ in range(count):
            pixels, labels = next(source)
            step(tf.constant(pixels), tf.constant(labels))

    serve(run)


# ---- PyTorch --------------------------------------------------------------------------------------------------------


def ddp(arguments):
    host, port = arguments.hosts[0].split(":")
    os.environ.update(MASTER_ADDR=host, MASTER_PORT=port, WORLD_SIZE=str(WORKERS), RANK=str(arguments.index),
                      OMP_NUM_THREADS="1")
    import torch
    import torch.distributed

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    network = torch.nn.Sequential(torch.nn.Linear(784, peer.HIDDEN), torch.nn.ReLU(), torch.nn.Linear(peer.HIDDEN, 10))
    model = torch.nn.parallel.DistributedDataParallel(network, gradient_as_bucket_view=True, static_graph=True)
    optimizer = torch.optim.SGD(network.parameters(), lr=LEARNING_RATE, fused=True)
    source = batches(arguments.data, arguments.index)

    def run(count):
        for _ in range(count):
            pixels, labels = next(source)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(torch.from_numpy(pixels)), torch.from_numpy(labels)).backward()
            optimizer.step()

    serve(run)


# ---- the parent -----------------------------------------------------------------------------------------------------


def free_hosts(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    hosts = [f"127.0.0.1:{probe.getsockname()[1]}" for probe in probes]
    for probe in probes:
        probe.close()
    return hosts


def start(arguments, hosts, job, index):
    command = [sys.executable, __file__, "--config", arguments.config, "--data", arguments.data, "--job", job,
               "--index", str(index), "--hosts", *hosts]
    return subprocess.Popen(command, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=None if arguments.verbose else subprocess.DEVNULL,
                            env=dict(os.environ, CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="2"))


def await_word(worker, word):
    for line in worker.stdout:
        if line.strip() == word:
            return
    raise RuntimeError("a task has failed; --verbose shows its errors")


def measure(workers, seconds):
    """Examples a second of all."""

    def run():
        for worker in workers:
            worker.stdin.write(f"{STEPS_A_CALL}\n")
        for worker in workers:
            await_word(worker, "done")

    run()
    calls, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        run()
        calls += 1
    return calls * STEPS_A_CALL * WORKERS * peer.BATCH / elapsed


def too_late(_signal, _frame):
    raise RuntimeError(f"the tasks have not answered within {MOST_SECONDS} s; --verbose shows their errors")


def main():
    parser = argparse.ArgumentParser(description="measures clusters of TensorFlow and PyTorch on this machine")
    parser.add_argument("--config", choices=sorted(JOBS), required=True)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of the measurement")
    parser.add_argument("--data", default=peer.DATA, help="folder of the gzipped IDX files")
    parser.add_argument("--verbose", action="store_true", help="what the tasks say, to standard error")
    parser.add_argument("--job", choices=["ps", "worker"], help=argparse.SUPPRESS)  # these three: of a child
    parser.add_argument("--index", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--hosts", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        {"multi-worker": multi_worker, "ddp": ddp}.get(arguments.config, tensorflow_1)(arguments)
        return 0
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(MOST_SECONDS + int(arguments.seconds))
    servers = JOBS[arguments.config]
    hosts = free_hosts(servers + WORKERS)
    tasks = [start(arguments, hosts, "ps", index) for index in range(servers)]
    workers = []
    try:
        for index in range(WORKERS):
            workers.append(start(arguments, hosts, "worker", index))
            if servers:  # a worker that comes before the chief has begun sleeps for 30 s
                await_word(workers[-1], "ready")
        for worker in workers if not servers else []:
            await_word(worker, "ready")
        rate = measure(workers, arguments.seconds)
        print(json.dumps({"config": arguments.config, "examples_per_sec": round(rate, 1)}), flush=True)
    except (RuntimeError, OSError) as error:
        print(f"{arguments.config}: {error}", file=sys.stderr)
        return 1
    finally:
        for task in tasks + workers:
            task.kill()
            task.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
