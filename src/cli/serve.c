#include "cli/serve.h"

#include <signal.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/signals.h"

static bool is_stopped(void *context) {
    (void)context;
    return signals_caught() != 0 && signals_caught() != SIGTERM;
}

/* SIGTERM, for example from a preempted machine: the server leaves, and the others wait for its replacement. */
static bool is_told_to_leave(void *context) {
    (void)context;
    return signals_caught() == SIGTERM;
}

int serve(mst_server_options options, bool quiet) {
    char text[256];
    options.log = quiet ? NULL : stderr;
    options.stop = is_stopped;
    options.leave = is_told_to_leave;
    const bool can_serve = mst_cluster_num_workers(options.cluster) > 0; /* else prints only the error */
    if (!quiet && can_serve) printf("serves as %s\n", mst_cluster_print(options.cluster, text, sizeof text));
    fflush(stdout);
    mst_status status = signals_catch();
    if (!status) status = mst_server_run_with(&options);
    if (!status && !quiet) printf("all workers have done their work\n");
    if (status == MST_CANCELLED && signals_caught()) return EXIT_SIGNAL + signals_caught();
    return status ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}
