"""Event files: TensorBoard's own reader loads every kind of summary that Muster writes, and Muster reads what
TensorBoard's writer wrote."""

import glob
import json
import os
import subprocess
import sys
import tempfile

import muster

try:
    import numpy as np
    from tensorboard.backend.event_processing import (event_accumulator, event_file_loader,
                                                      plugin_event_accumulator)
    from tensorboard.compat.proto import event_pb2, summary_pb2
    from tensorboard.util import tensor_util
    from tensorboard.plugins.hparams import plugin_data_pb2
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(muster.SKIPPED)

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_events")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def load(folder):
    accumulator = event_accumulator.EventAccumulator(folder, size_guidance={
        event_accumulator.TENSORS: 0, event_accumulator.SCALARS: 0, event_accumulator.HISTOGRAMS: 0})
    accumulator.Reload()
    return accumulator


def load_as_server(folder):
    """As TensorBoard's server has it: scalars and histograms of all kinds become tensors."""
    accumulator = plugin_event_accumulator.EventAccumulator(folder, tensor_size_guidance={
        "scalars": 0, "histograms": 0, "images": 0})
    accumulator.Reload()
    return accumulator


def tensors(accumulator, tag):
    return [(event.step, event.tensor_proto) for event in accumulator.Tensors(tag)]


def png_size_and_pixel(data, row, column):
    """Width, height and the pixel's channels; by hand, for a PNG of 8 bits without interlace."""
    import struct
    import zlib
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, packed, width, height, channels = 8, b"", 0, 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, color = struct.unpack(">IIBB", body[:10])
            channels = {0: 1, 4: 2, 2: 3, 6: 4}[color]
        if kind == b"IDAT":
            packed += body
        at += length + 12
    raw, stride = bytearray(zlib.decompress(packed)), width * channels
    before = bytearray(stride)
    for y in range(row + 1):
        filtering, line = raw[y * (stride + 1)], raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)]
        for i in range(stride):
            a = line[i - channels] if i >= channels else 0
            b, c = before[i], before[i - channels] if i >= channels else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + [0, a, b, (a + b) // 2, nearest][filtering]) & 255
        before = line
    return width, height, list(before[column * channels:(column + 1) * channels])


def check_every_kind(report, folder):
    run("write", folder)
    loaded = load(folder)
    scalars = [(e.step, round(e.value, 6)) for e in loaded.Scalars("loss")]
    report.check("a resumed curve has no doubled points", scalars == [(0, 1.0), (1, 0.5), (2, 0.25)], scalars,
                 "1, 1/2, and the new 1/4")
    shown = [(e.step, float(tensor_util.make_ndarray(e.tensor_proto))) for e in load_as_server(folder).Tensors("loss")]
    report.check("the server shows the same", len(shown) == 3 and np.allclose(shown, scalars, atol=1e-6), shown, scalars)
    for tag, step, count in (("bytes", 1, 2), ("floats", 2, 1)):
        (got_step, proto), = tensors(loaded, tag)
        width, height, *images = proto.string_val
        report.check(f"image {tag}: size", (got_step, width, height, len(images)) == (step, b"8", b"8", count),
                     (got_step, width, height, len(images)), (step, 8, 8, count))
        for n, image in enumerate(images):
            got = png_size_and_pixel(image, 5, 3)
            report.check(f"image {tag} {n}: pixel", got == (8, 8, [80, 48, n]), got, (8, 8, [80, 48, n]))
        metadata = loaded.SummaryMetadata(tag)
        report.check(f"image {tag}: plugin", metadata.plugin_data.plugin_name == "images", metadata, "images")
    (step, proto), = tensors(loaded, "note")
    report.check("text", (step, proto.string_val[0]) == (3, b"a **bold** word"), proto, "a **bold** word")
    check_hparams(report, loaded)
    check_graph(report, loaded)


def check_hparams(report, loaded):
    def data(tag):
        content = loaded.SummaryMetadata(f"_hparams_/{tag}").plugin_data.content
        return plugin_data_pb2.HParamsPluginData.FromString(content)
    start = data("session_start_info").session_start_info
    values = {name: value.string_value or value.number_value for name, value in start.hparams.items()}
    report.check("hparams", values == {"learning_rate": 0.125, "optimizer": "adam"}, values, "two")
    end = data("session_end_info").session_end_info
    report.check("hparams: the end is a success", end.status == 1 and end.end_time_secs >= start.start_time_secs,
                 end, "success")


def check_graph(report, loaded):
    graph = loaded.Graph()
    devices = {node.name: node.device for node in graph.node}
    report.check("graph", {"a", "product", "c"} <= set(devices), devices, "a, product and c")
    metadata = loaded.RunMetadata("step_1")
    stats = {node.node_name: (device.device, node) for device in metadata.step_stats.dev_stats
             for node in device.node_stats}
    report.check("trace: the devices", stats["a"][0].endswith("CPU:0") and stats["product"][0].endswith("CPU:1"),
                 stats.keys(), "a on CPU:0, product on CPU:1")
    for name in ("a", "product"):
        node = stats[name][1]
        report.check(f"trace: {name}", node.op_end_rel_micros > 0 and node.memory[0].total_bytes == 64 * 64 * 4
                     and [d.size for d in node.output[0].tensor_description.shape.dim] == [64, 64], node, "time, memory")
    first = stats["a"][1]
    report.check("trace: the order", first.all_start_micros + first.op_end_rel_micros
                 <= stats["product"][1].all_start_micros + 1, stats, "a before product")


def tensorflow_histogram(values):
    """tensorflow/core/lib/histogram/histogram.cc, in Python."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(sys.float_info.max)
    limits = [-x for x in reversed(positive)] + [0.0] + positive
    counts = np.bincount(np.searchsorted(limits, values, side="right"), minlength=len(limits))
    out, i = [], 0
    while i < len(limits):
        end, count = limits[i], counts[i]
        i += 1
        while count == 0 and i < len(limits) and counts[i] == 0:
            end, i = limits[i], i + 1
        out.append((end, float(count)))
    return out


def check_histograms(report, folder):
    random = np.random.default_rng(1)
    lists = [random.normal(size=5000).astype(np.float32), random.normal(size=3000) * 1e-9,
             np.zeros(10, np.float32), np.array([1e30, -1e30, 0.5])]
    numbers = os.path.join(folder, "numbers.json")
    with open(numbers, "w") as file:
        json.dump([values.tolist() for values in lists], file)
    run("numbers", folder, numbers)
    path, = glob.glob(os.path.join(folder, "*tfevents*"))
    events = [e for e in event_file_loader.LegacyEventFileLoader(path).Load() if e.HasField("summary")]
    report.check("histograms: all there", [e.step for e in events] == [0, 1, 2, 3], len(events), 4)
    for event, values in zip(events, lists):
        histo = event.summary.value[0].histo
        got = list(zip(histo.bucket_limit, histo.bucket))
        expected = tensorflow_histogram(values.astype(np.float64))
        report.check(f"histogram {event.step}: buckets", got == expected, got[:5], expected[:5])
        report.values(f"histogram {event.step}: sums", [histo.min, histo.max, histo.num, histo.sum_squares],
                      [values.min(), values.max(), len(values), np.sum(values.astype(np.float64) ** 2)], 1e-12)
    shown = load_as_server(folder).Tensors("h")
    for event, values in zip(shown, lists):
        counts = tensor_util.make_ndarray(event.tensor_proto)[:, 2]
        report.check(f"histogram {event.step}: TensorBoard shows all", counts.sum() == len(values), counts.sum(),
                     len(values))
    report.check("histograms: TensorBoard shows them", len(shown) == 4, len(shown), 4)


def check_reading(report, folder):
    writer = EventFileWriter(folder)
    for step in range(5):
        value = summary_pb2.Summary.Value(tag="x", simple_value=step * 0.5)
        writer.add_event(event_pb2.Event(step=step, wall_time=1.0, summary=summary_pb2.Summary(value=[value])))
    writer.close()
    path, = glob.glob(os.path.join(folder, "*tfevents*"))
    lines = [json.loads(line) for line in run("read", path).splitlines()]
    expected = [{"tag": "x", "step": step, "value": step * 0.5} for step in range(5)]
    report.check("Muster reads what TensorBoard wrote", lines == expected, lines, expected)


def write_idx(folder):
    """Small images and labels, as the four IDX files."""
    for part, count in (("train", 60), ("t10k", 20)):
        for name, shape in (("images-idx3", (count, 4, 4)), ("labels-idx1", (count,))):
            array = np.random.RandomState(1).randint(0, 10, shape).astype(np.uint8)
            with open(os.path.join(folder, f"{part}-{name}-ubyte"), "wb") as file:
                file.write(bytes([0, 0, 8, len(shape)]) + np.array(shape, ">i4").tobytes() + array.tobytes())


def check_hparams_page(report, folder):
    """What the plugin's own code makes of two trainings: its columns, and the values in them."""
    from tensorboard import context
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups
    write_idx(folder)
    losses = {}
    for rate in (0.01, 0.1):
        output = subprocess.run(
            [os.path.join(os.environ["MUSTER_BUILD"], "muster"), "train", "--data", f"idx:{folder}", "--hidden-units", "8",
             "--batch-size", "20", "--epochs", "3", "--validation-split", "0.2", "--learning-rate", str(rate), "--logdir",
             f"{folder}/log/{rate}", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        epoch = [json.loads(line) for line in output if '"event":"epoch"' in line][-1]
        losses[rate] = [epoch["loss"], epoch["accuracy"], epoch["val_loss"], epoch["val_accuracy"]]
    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRunsFromDirectory(f"{folder}/log")
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, folder)
    backend = backend_context.Context(base_plugin.TBContext(logdir=folder, data_provider=provider))
    request = context.RequestContext()
    metadata = backend.hparams_metadata(request, "1")
    experiment = backend.experiment_from_metadata(request, "1", True, metadata, None)
    have = [(m.name.group, m.name.tag, m.display_name) for m in experiment.metric_infos]
    want = [("train", "epoch_loss", "loss"), ("train", "epoch_accuracy", "accuracy"),
            ("validation", "epoch_loss", "validation loss"), ("validation", "epoch_accuracy", "validation accuracy")]
    report.check("hparams: columns of metrics", have == want, have, want)
    names = {h.name: h.type for h in experiment.hparam_infos}
    report.check("hparams: columns of hyperparameters", names.get("learning_rate") == api_pb2.DATA_TYPE_FLOAT64 and
                 names.get("optimizer") == api_pb2.DATA_TYPE_STRING, names, "a number and a text")
    wanted = api_pb2.ListSessionGroupsRequest(start_index=0, slice_size=10, include_metrics=True, allowed_statuses=[
        api_pb2.STATUS_UNKNOWN, api_pb2.STATUS_SUCCESS, api_pb2.STATUS_FAILURE, api_pb2.STATUS_RUNNING])
    for metric in experiment.metric_infos:
        wanted.col_params.add().metric.CopyFrom(metric.name)
    groups = list_session_groups.Handler(request, backend, "1", wanted).run().session_groups
    report.check("hparams: runs", len(groups) == 2, len(groups), 2)
    for group in groups:
        rate = group.hparams["learning_rate"].number_value
        values = {(v.name.group, v.name.tag): v.value for v in group.metric_values}
        report.values(f"hparams: metrics of the run with {rate}", [values.get(key[:2], float("nan")) for key in want],
                      losses[rate], 1e-6)


def main():
    report = muster.Report()
    for check in (check_every_kind, check_histograms, check_reading, check_hparams_page):
        with tempfile.TemporaryDirectory() as folder:
            check(report, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
