/** muster inspect: shows what files contain. */
#include "muster/inspect.h"

#include <stdbool.h>

#include "cli/command.h"

typedef struct inspect_options {
    bool json;
} inspect_options;

static const option options[] = {
    {"json", OPTION_FLAG, offsetof(inspect_options, json), .help = "one line of JSON for each thing that is shown"},
    {0}};

static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

static int inspect_run(const command_call *call) {
    const inspect_options *o = call->options;
    int status = EXIT_DONE;
    if (!call->num_positional) return command_fail(EXIT_USAGE, "inspect: which file? write inspect FILE...");
    for (int i = 0; i < call->num_positional; i++) {
        const char *path = call->positional[i];
        if (o->json ? mst_inspect_json(path, stdout) : mst_inspect(path, stdout))
            status = command_fail_library(EXIT_FAILED, NULL);
    }
    return status;
}

const command command_inspect = {
    .name = "inspect",
    .summary = "shows what is in files: keys, dtypes, shapes, counts, statistics, damage",
    .usage = "FILE... [options]",
    .notes =
        "Shown are TFRecord, IDX, NPZ, CSV and picture files, checkpoints (PREFIX, PREFIX.index), safetensors, "
        "models of Keras "
        "(.keras, .h5, JSON) and ONNX, event "
        "files, GraphDef files, text; and folders of checkpoints, of event files, of pictures in class folders. A file "
        "is known by its bytes, whatever its name. All of it is read and checked: the exit status is 1 where something "
        "is damaged.",
    .sections = sections,
    .options_size = sizeof(inspect_options),
    .max_positional = COMMAND_MOST_POSITIONAL,
    .run = inspect_run,
};
