/** muster bench mlp, ops, plan, data, checkpoint, events: how fast, as ratios. */
#include "cli/bench.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const option options[] = {
    {"seconds", OPTION_NUMBER, offsetof(bench_options, seconds), "X", "5", 0, 3600, .above_low = true,
     .help = "time of each measurement"},
    {"peers", OPTION_FLAG, offsetof(bench_options, peers),
     .help =
         "mlp: also TensorFlow, PyTorch and JAX; data: also TensorFlow, in a virtual environment made under build/; "
         "checkpoint: also TensorFlow, where that is there"},
    {"op", OPTION_TEXT, offsetof(bench_options, op), "NAME", .help = "ops: only this op"},
    {"json", OPTION_FLAG, offsetof(bench_options, json), .help = "one JSON object a line"},
    {0}};

static const option_section sections[] = {{"Options", options, NULL, NULL, 0}, {0}};

static const struct {
    const char *name;
    int (*run)(const bench_options *options);
} benchmarks[] = {{"mlp", bench_mlp},
                  {"ops", bench_ops},
                  {"plan", bench_plan},
                  {"data", bench_data},
                  {"checkpoint", bench_checkpoint},
                  {"events", bench_events}};

/* Options that only one of them has. */
static const struct {
    const char *option;
    int (*run)(const bench_options *options);
} own[] = {{"peers", bench_mlp}, {"peers", bench_data}, {"peers", bench_checkpoint}, {"op", bench_ops}};

enum { NUM_OWN = sizeof own / sizeof *own };
enum { NUM_BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };

static bool has_option(int (*run)(const bench_options *options), const char *option) {
    for (int k = 0; k < NUM_OWN; k++)
        if (own[k].run == run && strcmp(own[k].option, option) == 0) return true;
    return false;
}

/* Names those that have OPTION. */
static int fail_option(const char *benchmark, const char *option) {
    char list[128] = "";
    size_t used = 0;
    for (int i = 0; i < NUM_BENCHMARKS; i++) {
        if (!has_option(benchmarks[i].run, option)) continue;
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", benchmarks[i].name);
        used += strlen(list + used);
    }
    return command_fail(EXIT_USAGE, "bench %s: --%s is not for this benchmark, only for %s: leave it out", benchmark,
                        option, list);
}

static int run(const command_call *call) {
    const char *names[NUM_BENCHMARKS + 1] = {NULL};
    if (!call->num_positional)
        return command_fail(EXIT_USAGE, "bench: which one? write bench mlp, ops, plan, data, checkpoint or events");
    for (int i = 0; i < NUM_BENCHMARKS; i++) {
        names[i] = benchmarks[i].name;
        if (option_same_word(names[i], call->positional[0])) {
            for (int k = 0; k < NUM_OWN; k++)
                if (option_given(call->list, own[k].option) && !has_option(benchmarks[i].run, own[k].option))
                    return fail_option(names[i], own[k].option);
            return benchmarks[i].run(call->options);
        }
    }
    return command_unknown("benchmark", call->positional[0], names,
                           "there are mlp, ops, plan, data, checkpoint and events");
}

const command command_bench = {
    .name = "bench",
    .summary = "measures how fast Muster is here, as ratios",
    .usage = "mlp|ops|plan|data|checkpoint|events [options]",
    .notes =
        "mlp measures the network 784-500-10 with batch 100 a replica against what the machine could do, and with "
        "--peers against TensorFlow, PyTorch and JAX. ops measures each op's kernel against its limit of bytes or "
        "flops, "
        "and what two threads gain. plan measures how plans, calls and snapshots grow with the graph and the devices. "
        "data measures how TFRecord files are read and parsed and JPEG files decoded, and with --peers TensorFlow. "
        "checkpoint measures a save of "
        "1 GB against a copy and against the disk, and with --peers reading it against TensorFlow. events measures "
        "what "
        "a log for TensorBoard costs a step.",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .max_positional = 1,
    .words = "mlp ops plan data checkpoint events",
    .run = run,
};
