/** muster keygen: makes the key of a cluster. */
#include <stdio.h>

#include "cli/command.h"
#include "transport/cluster_key.h"

static int keygen_run(const command_call *call) {
    if (!call->num_positional) return command_fail(EXIT_USAGE, "keygen: to which file? write keygen FILE");
    const char *path = call->positional[0];
    if (mst_cluster_key_create(path)) return command_fail_library(EXIT_FAILED, NULL);
    command_print("%s: the key of a cluster. Copy it to every machine (scp -p), and give each task --cluster-key %s",
                  path, path);
    return EXIT_DONE;
}

static const option_section sections[] = {{0}};

const command command_keygen = {
    .name = "keygen",
    .summary = "makes the key of a cluster, without which nobody can join it",
    .usage = "FILE",
    .notes = "FILE must not be there yet. Only its owner can read it; tasks refuse a key that others can read.",
    .sections = sections,
    .max_positional = 1,
    .run = keygen_run,
};
