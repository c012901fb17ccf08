/** muster version: versions of the libraries in use, and what is missing. */
#include "muster/version.h"

#include <stdio.h>

#include "cli/command.h"

static const struct {
    const char *name, *used_for;
} not_built[] = {
    {"ZeroMQ", "clusters: several tasks, parameter servers"},
    {"MPI", "all-reduce between machines"},
    {"CUDA", "GPUs: cuDNN, cuBLAS, NCCL"},
    {"HDF5", "Keras weights"},
};

static int run(const command_call *call) {
    (void)call;
    const mst_library *libraries;
    int count = mst_libraries(&libraries);
    printf("muster %s\n\n", mst_version());
    for (int i = 0; i < count; i++)
        printf("  %-11s %-10s %s\n", libraries[i].name, libraries[i].version, libraries[i].used_for);
    printf("\nNot built yet, so installing them would change nothing:\n\n");
    for (size_t i = 0; i < sizeof not_built / sizeof *not_built; i++)
        printf("  %-11s %-10s %s\n", not_built[i].name, "", not_built[i].used_for);
    return EXIT_DONE;
}

static const option_section sections[] = {{0}};

const command command_version = {
    .name = "version",
    .summary = "shows versions, libraries, and what is missing",
    .usage = "",
    .sections = sections,
    .run = run,
};
