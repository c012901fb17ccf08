#include "cli/bench_peers.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

static const char SCRIPTS[] = "bench/peers";
static const char SETUP[] = "scripts/peers";
static const char PYTHON[] = "build/peers/bin/python";

static double most(double a, double b) {
    return a > b ? a : b;
}

double bench_peers_by_step(const double *best) {
    return most(best[BENCH_PEER_GUIDE], best[BENCH_PEER_STEP]);
}

double bench_peers_by_any(const double *best) {
    return most(bench_peers_by_step(best), best[BENCH_PEER_LOOP]);
}

static void take_line(const char *line, bench_peers *out) {
    static const char *const way_names[BENCH_PEER_WAYS] = {"guide", "step", "loop"};
    json_t *object = json_loads(line, 0, NULL);
    const char *name = json_string_value(json_object_get(object, "peer"));
    const char *config = json_string_value(json_object_get(object, "config"));
    const char *way_name = json_string_value(json_object_get(object, "way"));
    bench_peer *peer = name && strcmp(name, "tensorflow") == 0 ? &out->tensorflow : &out->pytorch;
    if (name && json_object_get(object, "beside_busy"))
        peer->beside_busy = json_number_value(json_object_get(object, "beside_busy"));
    if (name && config && way_name) {
        double rate = json_number_value(json_object_get(object, "examples_per_sec"));
        double first = json_number_value(json_object_get(object, "first_step_sec"));
        bool replicated = strncmp(config, "mirrored", 8) == 0 || strncmp(config, "ddp", 3) == 0;
        for (int way = 0; way < BENCH_PEER_WAYS; way++) {
            if (strcmp(way_name, way_names[way]) != 0) continue;
            peer->best[way] = most(peer->best[way], rate);
            if (replicated) peer->replicated[way] = most(peer->replicated[way], rate);
        }
        if (first > 0 && (peer->first_step == 0 || first < peer->first_step)) peer->first_step = first;
    }
    json_decref(object);
}

static bool run_peer(const char *script, double seconds, bench_peers *out) {
    char command[256], line[4096];
    snprintf(command, sizeof command, "%s %s/%s --seconds %g", PYTHON, SCRIPTS, script, seconds);
    FILE *file = popen(command, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        printf("  %s", line);
        fflush(stdout);
        take_line(line, out);
    }
    return pclose(file) == 0;
}

bool bench_peers_measure(double seconds, bench_peers *out) {
    *out = (bench_peers){0};
    if (access(SCRIPTS, R_OK) || access(SETUP, X_OK)) {
        command_fail(EXIT_FAILED, "bench mlp --peers: %s is not here: run it in the root of the source tree", SCRIPTS);
        return false;
    }
    if (system(SETUP) != 0) {
        command_fail(EXIT_FAILED, "bench mlp --peers: %s could not install TensorFlow and PyTorch under build/", SETUP);
        return false;
    }
    bool tensorflow = run_peer("tensorflow_mlp.py", seconds, out), pytorch = run_peer("pytorch_mlp.py", seconds, out);
    if (!tensorflow && !pytorch) command_fail(EXIT_FAILED, "bench mlp --peers: neither peer ran");
    return tensorflow || pytorch;
}
