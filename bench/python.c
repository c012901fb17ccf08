#include "bench/python.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"

/* The shell finds the tree in the environment, whatever characters its path has. */
static bool name_source(void) {
    return setenv("MUSTER_SOURCE", BENCH_SOURCE, 1) == 0;
}

bool bench_python_install(const char *benchmark, const char *peers) {
    char command[256];
    if (access(BENCH_SOURCE "/scripts/peers", X_OK) || access(BENCH_SOURCE "/bench/peers", R_OK)) {
        command_fail(EXIT_FAILED,
                     "%s --peers: %s, the source tree that muster-bench was built from, has no scripts/peers and "
                     "bench/peers: build muster-bench again where the tree is now",
                     benchmark, BENCH_SOURCE);
        return false;
    }
    snprintf(command, sizeof command, "\"$MUSTER_SOURCE/scripts/peers\" %s", peers);
    if (name_source() && system(command) == 0) return true;
    command_fail(EXIT_FAILED, "%s --peers: %s/scripts/peers could not install them", benchmark, BENCH_SOURCE);
    return false;
}

FILE *bench_python_open(const char *arguments, const char *mode) {
    char *command;
    if (!name_source() || asprintf(&command, "exec \"$MUSTER_SOURCE/build/peers/bin/python\" %s", arguments) < 0)
        return NULL;
    FILE *file = popen(command, mode);
    free(command);
    return file;
}
