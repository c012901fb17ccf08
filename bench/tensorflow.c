#include "bench/tensorflow.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/python.h"
#include "cli/command.h"

bool bench_tensorflow_open(const char *benchmark, const char *peers, const char *folder, const char *script,
                           const char *arguments, bench_tensorflow *out) {
    char *command;
    *out = (bench_tensorflow){.questions = NULL};
    if (!bench_python_install(benchmark, peers)) return false;
    snprintf(out->path, sizeof out->path, "%s/answers", folder);
    if (mkfifo(out->path, 0600)) {
        command_fail(EXIT_FAILED, "%s: %s cannot be made", benchmark, out->path);
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* of a process that ended early there is no answer */
    if (asprintf(&command, "-B \"$MUSTER_SOURCE/bench/peers/%s\" %s > %s", script, arguments, out->path) < 0)
        return false;
    out->questions = bench_python_open(command, "w");
    free(command);
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
