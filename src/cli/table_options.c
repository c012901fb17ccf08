#include "cli/table_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

enum { MESSAGE = 1024 };

const char *const table_missing[] = {[MST_MISSING_REFUSE] = "refuse", [MST_MISSING_NAN] = "mean", NULL};

static mst_status read_delimiter(const char *text, char *out) {
    *out = strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0 ? '\t' : *text;
    if (*out == '\t' || (*text && !text[1])) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "--delimiter '%s': is no one character: write ';', '|', tab or what else is between cells", text);
}

/* Takes the first name of *REST, in double quotes or up to the next comma. *REST becomes the rest after that comma, or
 * NULL at the end. A name in quotes may be empty or contain commas; a quote in it is written twice, as in a table. */
static char *take_name(char **rest, bool *quoted) {
    char *name = *rest, *to = name;
    *quoted = *name == '"';
    if (!*quoted) return strsep(rest, ",");
    for (const char *from = name + 1; *from; from++) {
        if (*from == '"' && *++from != '"') {
            *rest = *from == ',' ? (char *)(uintptr_t)from + 1 : NULL;
            break;
        }
        *to++ = *from;
        *rest = NULL; /* stays so if the quote is never closed */
    }
    *to = '\0';
    return name;
}

/* The names of TEXT, "a,b,c", as *NAMES, one block for free(): the pointers, then the text. WHOLE: all of TEXT is one
 * name. An empty TEXT is one name, too. */
static mst_status split_names(const char *option, const char *text, bool whole, const char *const **names, int *count) {
    *names = NULL;
    if (!text) return MST_OK;
    const size_t size = strlen(text) + 1;
    size_t most = 1;
    bool quoted;
    for (const char *c = text; *c; c++) most += *c == ',';
    const char **name = malloc(most * sizeof *name + size);
    if (!name) return MST_NO_MEMORY("for names of columns");
    char *rest = memcpy(name + most, text, size);
    for (*count = 0; !whole && *text && rest;) {
        const char *one = take_name(&rest, &quoted);
        if (*one || quoted) name[(*count)++] = one;
    }
    if (whole || !*text) name[(*count)++] = rest;
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

/* WHOLE: each list of names is one name. */
static mst_status table_options_read(const table_options *o, bool whole, mst_data_options *options) {
    options->label = o->label;
    options->missing = (mst_missing)o->missing;
    if (o->delimiter) MST_TRY(read_delimiter(o->delimiter, &options->delimiter));
    MST_TRY(read_mark("decimal", o->decimal, ",.", &options->decimal));
    MST_TRY(read_mark("thousands", o->thousands, ",.' ", &options->thousands));
    MST_TRY(split_names("dates", o->dates, whole, &options->dates, &options->num_dates));
    MST_TRY(split_names("drop", o->drop, whole, &options->drop, &options->num_drop));
    return split_names("categories", o->categories, whole, &options->categories, &options->num_categories);
}

static mst_status open_table(const table_options *o, const char *spec, const char *part, bool whole,
                             mst_data_options options, mst_dataset **out) {
    mst_status status = table_options_read(o, whole, &options);
    if (!status) status = mst_dataset_open_with(spec, part, &options, out);
    free((void *)(uintptr_t)options.drop);
    free((void *)(uintptr_t)options.categories);
    free((void *)(uintptr_t)options.dates);
    return status;
}

static bool has_comma(const char *text) {
    return text && strchr(text, ',');
}

/* If a list of names has a name that is no column, the list may be one name with a comma in it: that is tried, unless
 * the table is standard input, which cannot be read again. */
mst_status table_options_open(const table_options *o, const char *spec, const char *part, mst_data_options options,
                              mst_dataset **out) {
    char first[MESSAGE];
    const mst_status status = open_table(o, spec, part, false, options, out);
    const bool commas = has_comma(o->drop) || has_comma(o->categories) || has_comma(o->dates);
    if (status != MST_NOT_FOUND || !commas || strcmp(spec, "csv:-") == 0) return status;
    snprintf(first, sizeof first, "%s", mst_error()->message);
    return open_table(o, spec, part, true, options, out) ? MST_FAIL(status, "%s", first) : MST_OK;
}
