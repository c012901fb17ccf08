#include "cli/table_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

const char *const table_missing[] = {[MST_MISSING_REFUSE] = "refuse", [MST_MISSING_NAN] = "mean", NULL};

static mst_status read_delimiter(const char *text, char *out) {
    *out = strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0 ? '\t' : *text;
    if (*out == '\t' || (*text && !text[1])) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "--delimiter '%s': is no one character: write ';', '|', tab or what else is between cells", text);
}

/* The names of "a,b,c": pointers, and behind them the text. */
static mst_status split_names(const char *text, void **memory, int *count) {
    const size_t size = strlen(text) + 1;
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    const char **name = *memory = malloc(most * sizeof *name + size);
    if (!name) return MST_NO_MEMORY("for names of columns");
    char *rest = memcpy(name + most, text, size), *one;
    for (*count = 0; (one = strsep(&rest, ","));)
        if (*one) name[(*count)++] = one;
    return *count ? MST_OK : MST_FAIL(MST_INVALID, "--drop: names no column: write --drop NAME,NAME,...");
}

mst_status table_options_read(const table_options *o, mst_data_options *options, void **memory) {
    *memory = NULL;
    options->label = o->label;
    options->missing = (mst_missing)o->missing;
    if (o->delimiter) MST_TRY(read_delimiter(o->delimiter, &options->delimiter));
    if (!o->drop) return MST_OK;
    MST_TRY(split_names(o->drop, memory, &options->num_drop));
    options->drop = *memory;
    return MST_OK;
}

mst_status table_options_open(const table_options *o, const char *spec, const char *part, mst_data_options options,
                              mst_dataset **out) {
    void *memory;
    mst_status status = table_options_read(o, &options, &memory);
    if (!status) status = mst_dataset_open_with(spec, part, &options, out);
    free(memory);
    return status;
}
