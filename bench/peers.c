#include "bench/peers.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/python.h"
#include "cli/command.h"

static const char SCRIPT[] = "bench/peers/alternate.py";
static const char *const ways[BENCH_PEER_WAYS] = {"guide", "step", "loop"};
static const char *const peers[BENCH_NUM_PEERS] = {"tensorflow", "pytorch", "jax"};

static double most(double a, double b) {
    return a > b ? a : b;
}

static double least(double a, double b) {
    return a > 0 && (b == 0 || a < b) ? a : b;
}

bench_ratio bench_ratio_least(bench_ratio a, bench_ratio b) {
    return (bench_ratio){least(a.best, b.best), least(a.median, b.median)};
}

/* The place of the word of OBJECT under KEY in LIST; COUNT where it is not there. */
static int find(const json_t *object, const char *key, const char *const *list, int count) {
    const char *word = json_string_value(json_object_get(object, key));
    int i = 0;
    while (i < count && !(word && strcmp(word, list[i]) == 0)) i++;
    return i;
}

static void take_finalist(const json_t *object, int number, int way, bench_peers *out) {
    bench_peer *peer = &out->peer[number];
    const bool replicated = json_is_true(json_object_get(object, "replicated"));
    const double rate = json_number_value(json_object_get(object, "examples_per_sec"));
    const bench_ratio ratio = {json_number_value(json_object_get(object, "ratio_best")),
                               json_number_value(json_object_get(object, "ratio_median"))};
    peer->best[way] = most(peer->best[way], rate);
    out->muster = most(out->muster, json_number_value(json_object_get(object, "muster")));
    if (replicated) peer->replicated[way] = most(peer->replicated[way], rate);
    peer->first_step = least(peer->first_step, json_number_value(json_object_get(object, "first_step_sec")));
    out->over_all[way] = bench_ratio_least(out->over_all[way], ratio);
    if (replicated && number == BENCH_TENSORFLOW)
        out->over_mirrored[way] = bench_ratio_least(out->over_mirrored[way], ratio);
}

static void take_line(const char *line, bench_peers *out) {
    json_t *object = json_loads(line, 0, NULL);
    const int number = find(object, "peer", peers, BENCH_NUM_PEERS), way = find(object, "way", ways, BENCH_PEER_WAYS);
    if (number < BENCH_NUM_PEERS && way < BENCH_PEER_WAYS) take_finalist(object, number, way, out);
    if (number < BENCH_NUM_PEERS && json_object_get(object, "beside_busy"))
        out->peer[number].beside_busy = json_number_value(json_object_get(object, "beside_busy"));
    json_decref(object);
}

/* The shell finds the command in the environment, whatever characters its path has. */
static bool alternate(double seconds, bool quick, const char *only, const char *arguments, bench_peers *out) {
    char command[2048], line[4096];
    if (setenv("MUSTER", BENCH_COMMAND, 1)) return false;
    snprintf(command, sizeof command, "\"$MUSTER_SOURCE/%s\" --seconds %g%s%s -- \"$MUSTER\" %s", SCRIPT, seconds,
             quick ? " --quick" : "", only, arguments);
    FILE *file = bench_python_open(command, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        printf("  %s", line);
        fflush(stdout);
        take_line(line, out);
    }
    return pclose(file) == 0;
}

static bool fail(const char *benchmark) {
    command_fail(EXIT_FAILED, "%s --peers: no peer could be measured; %s --verbose says more", benchmark, SCRIPT);
    return false;
}

bool bench_peers_measure(double seconds, bool quick, const char *arguments, bench_peers *out) {
    *out = (bench_peers){0};
    if (!bench_python_install("mlp", "tensorflow pytorch jax")) return false;
    return alternate(seconds, quick, "", arguments, out) || fail("mlp");
}

bool bench_peers_measure_one(double seconds, bool quick, const char *peer, const char *config, const char *arguments,
                             bench_peers *out) {
    char only[128];
    *out = (bench_peers){0};
    snprintf(only, sizeof only, " --only %s %s", peer, config);
    if (!bench_python_install("compiled", peer)) return false;
    return alternate(seconds, quick, only, arguments, out) || fail("compiled");
}
