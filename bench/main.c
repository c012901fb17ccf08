/* muster-bench BENCHMARK [options]: how fast Muster is on this machine, as ratios. */
#include <stdio.h>

#include "bench/bench.h"

const char *const command_program = "muster-bench";
const command *const command_table[] = {
    &bench_mlp,     &bench_text_cnn, &bench_mobilenet_v2, &bench_inference,  &bench_gpt,
    &bench_ops,     &bench_plan,     &bench_data,         &bench_checkpoint, &bench_events,
    &bench_cluster, &bench_remote,   &bench_compiled,     &bench_device,     NULL};
enum { NUM_BENCHMARKS = sizeof command_table / sizeof *command_table - 1 };
static const char names_of_all[] =
    "there are mlp, text_cnn, mobilenet_v2, inference, gpt, ops, plan, data, checkpoint, events, cluster, remote, "
    "compiled and device";

static int print_benchmarks(void) {
    printf(
        "Measures how fast Muster is on this machine, as ratios.\n\n"
        "usage: muster-bench BENCHMARK [options]\n\n");
    for (int i = 0; i < NUM_BENCHMARKS; i++) printf("  %-12s %s\n", command_table[i]->name, command_table[i]->summary);
    printf("\nmuster-bench BENCHMARK --help  the options of a benchmark\n");
    return EXIT_DONE;
}

static int unknown_benchmark(const char *name) {
    const char *names[NUM_BENCHMARKS + 1] = {NULL};
    for (int i = 0; i < NUM_BENCHMARKS; i++) names[i] = command_table[i]->name;
    return command_unknown("benchmark", name, names, names_of_all);
}

static int dispatch(char **arguments) {
    const char *name = arguments[0];
    if (!name) return command_fail(EXIT_USAGE, "write muster-bench BENCHMARK: %s", names_of_all);
    if (command_is_help(name)) return print_benchmarks();
    const command *benchmark = command_find(name);
    return benchmark ? command_run(benchmark, arguments + 1) : unknown_benchmark(name);
}

int main(int argc, char **argv) {
    return command_main(argc, argv, dispatch);
}
