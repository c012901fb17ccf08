#include "bench/tensorflow.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/python.h"
#include "cli/command.h"

bool bench_tensorflow_open(const char *folder, bench_tensorflow *out) {
    char *arguments;
    *out = (bench_tensorflow){.questions = NULL};
    if (!bench_python_install("data", "tensorflow")) return false;
    snprintf(out->path, sizeof out->path, "%s/answers", folder);
    if (mkfifo(out->path, 0600)) {
        command_fail(EXIT_FAILED, "data: %s cannot be made", out->path);
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* of a process that ended early there is no answer */
    if (asprintf(&arguments, "-B \"$MUSTER_SOURCE/bench/peers/tensorflow_data.py\" --folder %s > %s", folder,
                 out->path) < 0)
        return false;
    out->questions = bench_python_open(arguments, "w");
    free(arguments);
    if (out->questions) out->answers = fopen(out->path, "r");
    return out->answers != NULL;
}

double bench_tensorflow_ask(const bench_tensorflow *peer, const char *what, double seconds) {
    char line[64];
    if (fprintf(peer->questions, "%s %g\n", what, seconds) < 0 || fflush(peer->questions)) return 0;
    if (!fgets(line, sizeof line, peer->answers)) return 0;
    return strtod(line, NULL);
}

bool bench_tensorflow_close(bench_tensorflow *peer) {
    const bool good = peer->questions && pclose(peer->questions) == 0;
    if (peer->answers) fclose(peer->answers);
    unlink(peer->path);
    return good;
}
