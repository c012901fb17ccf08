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

/* The names of TEXT, "a,b,c", as *NAMES, to be freed with free(): pointers, and behind them the text. */
static mst_status split_names(const char *option, const char *text, const char *const **names, int *count) {
    *names = NULL;
    if (!text) return MST_OK;
    const size_t size = strlen(text) + 1;
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    const char **name = malloc(most * sizeof *name + size);
    if (!name) return MST_NO_MEMORY("for names of columns");
    char *rest = memcpy(name + most, text, size), *one;
    for (*count = 0; (one = strsep(&rest, ","));)
        if (*one) name[(*count)++] = one;
    *names = name;
    return *count ? MST_OK : MST_FAIL(MST_INVALID, "--%s: names no column: write --%s NAME,NAME,...", option, option);
}

static mst_status read_mark(const char *option, const char *text, const char *marks, char *out) {
    if (!text) return MST_OK;
    *out = strcmp(text, "space") == 0 ? ' ' : *text;
    if (*out && strchr(marks, *out) && (*out == ' ' || !text[1])) return MST_OK;
    return MST_FAIL(MST_INVALID, "--%s '%s': is none of the marks that are possible: %s", option, text,
                    strchr(marks, ' ') ? "',', '.', \"'\" and space" : "',' and '.'");
}

static mst_status table_options_read(const table_options *o, mst_data_options *options) {
    options->label = o->label;
    options->missing = (mst_missing)o->missing;
    if (o->delimiter) MST_TRY(read_delimiter(o->delimiter, &options->delimiter));
    MST_TRY(read_mark("decimal", o->decimal, ",.", &options->decimal));
    MST_TRY(read_mark("thousands", o->thousands, ",.' ", &options->thousands));
    MST_TRY(split_names("dates", o->dates, &options->dates, &options->num_dates));
    MST_TRY(split_names("drop", o->drop, &options->drop, &options->num_drop));
    return split_names("categories", o->categories, &options->categories, &options->num_categories);
}

mst_status table_options_open(const table_options *o, const char *spec, const char *part, mst_data_options options,
                              mst_dataset **out) {
    mst_status status = table_options_read(o, &options);
    if (!status) status = mst_dataset_open_with(spec, part, &options, out);
    free((void *)(uintptr_t)options.drop);
    free((void *)(uintptr_t)options.categories);
    free((void *)(uintptr_t)options.dates);
    return status;
}
