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

static double least(double a, double b) {
    return a > 0 && a < b ? a : b; /* a of 0: none yet */
}

static void take_line(const char *line, bench_peer_rates *out) {
    json_t *object = json_loads(line, 0, NULL);
    const char *peer = json_string_value(json_object_get(object, "peer"));
    const char *config = json_string_value(json_object_get(object, "config"));
    double rate = json_number_value(json_object_get(object, "examples_per_sec"));
    double first = json_number_value(json_object_get(object, "first_step_sec"));
    if (peer && config && strcmp(peer, "tensorflow") == 0) {
        if (rate > out->tensorflow) out->tensorflow = rate;
        if (strncmp(config, "mirrored", 8) == 0 && rate > out->tensorflow_mirrored) out->tensorflow_mirrored = rate;
        if (first > 0) out->tensorflow_first_step = least(out->tensorflow_first_step, first);
    } else if (peer && strcmp(peer, "pytorch") == 0) {
        if (rate > out->pytorch) out->pytorch = rate;
        if (first > 0) out->pytorch_first_step = least(out->pytorch_first_step, first);
    }
    json_decref(object);
}

static bool run_peer(const char *script, double seconds, bench_peer_rates *out) {
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

bool bench_peers_measure(double seconds, bench_peer_rates *out) {
    *out = (bench_peer_rates){0};
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
