/** muster inspect: what is in files. */
#include "muster/inspect.h"

#include "cli/command.h"

static int run(const command_call *call) {
    int status = EXIT_DONE;
    if (!call->num_positional) return command_fail(EXIT_USAGE, "inspect: which file? write inspect FILE...");
    for (int i = 0; i < call->num_positional; i++)
        if (mst_inspect(call->positional[i], stdout)) status = command_fail_library(EXIT_FAILED, NULL);
    return status;
}

static const option_section sections[] = {{0}};

const command command_inspect = {
    .name = "inspect",
    .summary = "shows what is in files: IDX, NPZ and TFRecord; keys, dtypes, shapes, counts, statistics, damage",
    .usage = "FILE...",
    .sections = sections,
    .max_positional = COMMAND_MOST_POSITIONAL,
    .run = run,
};
