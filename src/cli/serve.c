#include "cli/serve.h"

#include <signal.h>
#include <stdio.h>

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/json_events.h"
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

/* Says EVENT, of the CLUSTER that is served, as JSON. */
static mst_status say_serving(const char *event, const char *cluster) {
    json_t *json = json_event(event);
    if (cluster) json_add(&json, "", "cluster", json_text(cluster));
    return json_write(json);
}

int serve(mst_server_options options, bool quiet, bool json) {
    char text[256];
    options.log = quiet ? NULL : stderr;
    options.stop = is_stopped;
    options.leave = is_told_to_leave;
    const bool can_serve = mst_cluster_num_workers(options.cluster) > 0; /* else prints only the error */
    mst_status status = MST_OK;
    if (can_serve) (void)mst_cluster_print(options.cluster, text, sizeof text);
    if (json && can_serve) status = say_serving("serving", text);
    if (!json && !quiet && can_serve) printf("serves as %s\n", text);
    fflush(stdout);
    if (!status) status = signals_catch();
    if (!status) status = mst_server_run_with(&options);
    if (!status && json) status = say_serving("served", NULL);
    if (!status && !json && !quiet) printf("all workers have done their work\n");
    if (status == MST_CANCELLED && signals_caught()) return EXIT_SIGNAL + signals_caught();
    return status ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}
