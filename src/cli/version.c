/** muster version: prints the versions of the libraries in use, and which are missing. */
#include "muster/version.h"

#include <stdio.h>

#include "cli/command.h"
#include "module/module.h"

static const struct {
    const char *name, *used_for;
} not_built[] = {
    {"CUDA", "GPUs: cuDNN, cuBLAS, NCCL"},
};

/* Prints the versions with which the modules were built. Asking the libraries would load them. */
static void print_modules(void) {
    printf("\nLoaded when first used:\n\n");
    for (const mst_module_info *info = mst_module_infos(); info->name; info++)
        if (mst_module_is_here(info->name))
            printf("  %-13s %-10s %s\n", info->library, info->version, info->used_for);
        else if (info->version[0])
            printf("  %-13s %-10s %s: install libmuster-%s.so with Muster\n", info->library, "missing", info->used_for,
                   info->name);
        else
            printf("  %-13s %-10s %s: install %s, then build and install Muster again\n", info->library, "missing",
                   info->used_for, info->package);
}

static int version_run(const command_call *call) {
    (void)call;
    const mst_library *libraries;
    int count = mst_libraries(&libraries);
    printf("muster %s\n\n", mst_version());
    for (int i = 0; i < count; i++)
        printf("  %-13s %-10s %s\n", libraries[i].name, libraries[i].version, libraries[i].used_for);
    print_modules();
    printf("\nNot built yet, so installing them would change nothing:\n\n");
    for (size_t i = 0; i < sizeof not_built / sizeof *not_built; i++)
        printf("  %-13s %-10s %s\n", not_built[i].name, "", not_built[i].used_for);
    return EXIT_DONE;
}

static const option_section sections[] = {{0}};

const command command_version = {
    .name = "version",
    .summary = "shows versions, libraries, and what is missing",
    .usage = "",
    .sections = sections,
    .run = version_run,
};
