#include "cli/table_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/encoding.h"

enum { MESSAGE = 1024 };

const char *const table_missing[] = {[MST_MISSING_REFUSE] = "refuse", [MST_MISSING_NAN] = "mean", NULL};

static mst_status read_delimiter(const char *text, char *out) {
    *out = strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0 ? '\t' : *text;
    if (*out == '\t' || (*text && !text[1])) return MST_OK;
    return MST_FAIL(MST_INVALID, "--delimiter '%s': must be one character, such as ';' or '|', or the word tab", text);
}

static mst_status read_comment(const char *text, char *out) {
    *out = *text;
    if (*text && !text[1] && !strchr("\"\n\r", *text)) return MST_OK;
    return MST_FAIL(MST_INVALID, "--comment '%s': must be one character, such as '#', and not a double quote", text);
}

/* Takes the first name of *REST, in double quotes or up to the next comma. *REST becomes the rest after that comma, or
 * NULL at the end. A name in quotes may be empty or contain commas; a quote in it is written twice, as in a table.
 * Behind the closing quote, =PARTS belongs to the name if HAS_PARTS. */
static mst_status take_name(const char *option, bool has_parts, char **rest, const char **name, bool *quoted) {
    char *begin = *rest, *to = begin, *from = begin + 1;
    *name = begin;
    *quoted = *begin == '"';
    if (!*quoted) {
        (void)strsep(rest, ",");
        return MST_OK;
    }
    for (; *from && (*from != '"' || from[1] == '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    if (!*from) return MST_FAIL(MST_INVALID, "--%s: a double quote is never closed: close it", option);
    from++;
    if (has_parts && *from == '=')
        while (*from && *from != ',') *to++ = *from++;
    if (*from && *from != ',')
        return MST_FAIL(
            MST_INVALID,
            "--%s: '%s' follows a closing quote: write a comma between names, and a quote inside a name twice", option,
            from);
    *rest = *from ? from + 1 : NULL;
    *to = '\0';
    return MST_OK;
}

/* The names of TEXT, "a,b,c", as *NAMES, one block for free(): the pointers, then the text. WHOLE: all of TEXT is one
 * name, unless it begins with a quote. An empty TEXT is one name, too. */
static mst_status split_names(const char *option, const char *text, bool whole, const char *const **names, int *count) {
    *names = NULL;
    if (!text) return MST_OK;
    if (*text == '"') whole = false;
    const size_t size = strlen(text) + 1;
    const bool has_parts = strcmp(option, "dates") == 0;
    size_t most = 1;
    bool quoted;
    for (const char *c = text; *c; c++) most += *c == ',';
    const char **name = malloc(most * sizeof *name + size), *one;
    if (!name) return MST_NO_MEMORY("for names of columns");
    *names = name;
    char *rest = memcpy(name + most, text, size);
    for (*count = 0; !whole && *text && rest;) {
        MST_TRY(take_name(option, has_parts, &rest, &one, &quoted));
        if (*one || quoted) name[(*count)++] = one;
    }
    if (whole || !*text) name[(*count)++] = rest;
    return *count ? MST_OK : MST_FAIL(MST_INVALID, "--%s: names no column: write --%s NAME,NAME,...", option, option);
}

bool table_options_list_has(const char *list, const mst_column_report *column) {
    const char *const *name;
    int count = 0;
    if (!list) return false;
    bool has = mst_column_is_named(column, list); /* LIST may be one name with a comma */
    if (!split_names("categories", list, false, &name, &count))
        for (int i = 0; i < count && !has; i++) has = mst_column_is_named(column, name[i]);
    free((void *)(uintptr_t)name);
    return has;
}

static mst_status read_mark(const char *option, const char *text, const char *marks, char *out) {
    if (!text) return MST_OK;
    *out = strcmp(text, "space") == 0 ? ' ' : *text;
    if (*out && strchr(marks, *out) && (*out == ' ' || !text[1])) return MST_OK;
    return MST_FAIL(MST_INVALID, "--%s '%s': must be %s", option, text,
                    strchr(marks, ' ') ? "',', '.', \"'\" or space" : "',' or '.'");
}

bool table_options_has_weight(const table_options *o) {
    return o->weight && *o->weight;
}

/* Reads the label, which may be several. */
static mst_status read_labels(const table_options *o, bool whole, mst_data_options *options) {
    MST_TRY(split_names("label", o->label, whole, &options->labels, &options->num_labels));
    if (!options->labels || options->num_labels != 1) return MST_OK;
    options->label = *options->labels;
    options->num_labels = 0; /* .labels still owns the name */
    return MST_OK;
}

/* Lists of names that are taken as one name, as bits. */
enum { WHOLE_LABEL = 1, WHOLE_LISTS = 2 };

/* Copies O to OPTIONS. WHOLE has the bits of the lists that are each one name. */
static mst_status table_options_read(const table_options *o, unsigned whole, mst_data_options *options) {
    const bool one = whole & WHOLE_LISTS;
    MST_TRY(read_labels(o, whole & WHOLE_LABEL, options));
    options->weight = table_options_has_weight(o) ? o->weight : NULL;
    options->no_header = o->no_header;
    options->encoding = o->encoding;
    if (o->encoding) MST_TRY(mst_encoding_check(o->encoding));
    options->missing = (mst_missing)o->missing;
    if (o->delimiter) MST_TRY(read_delimiter(o->delimiter, &options->delimiter));
    if (o->comment) MST_TRY(read_comment(o->comment, &options->comment));
    MST_TRY(read_mark("decimal", o->decimal, ",.", &options->decimal));
    MST_TRY(read_mark("thousands", o->thousands, ",.' ", &options->thousands));
    MST_TRY(split_names("dates", o->dates, one, &options->dates, &options->num_dates));
    MST_TRY(split_names("drop", o->drop, one, &options->drop, &options->num_drop));
    return split_names("categories", o->categories, one, &options->categories, &options->num_categories);
}

static mst_status open_table(const table_options *o, const char *spec, const char *part, unsigned whole,
                             mst_data_options options, mst_dataset **out) {
    mst_status status = table_options_read(o, whole, &options);
    if (!status) status = mst_dataset_open_with(spec, part, &options, out);
    free((void *)(uintptr_t)options.labels);
    free((void *)(uintptr_t)options.drop);
    free((void *)(uintptr_t)options.categories);
    free((void *)(uintptr_t)options.dates);
    return status;
}

static bool has_comma(const char *text) {
    return text && strchr(text, ',');
}

/* If a list of names has a name that is not a column, the list may be one name with a comma in it: that is tried, of
 * the label and of the other lists, unless the table is standard input, which cannot be read again. */
mst_status table_options_open(const table_options *o, const char *spec, const char *part, mst_data_options options,
                              mst_dataset **out) {
    char first[MESSAGE];
    const mst_status status = open_table(o, spec, part, 0, options, out);
    const bool lists = has_comma(o->drop) || has_comma(o->categories) || has_comma(o->dates);
    const unsigned can = (has_comma(o->label) ? WHOLE_LABEL : 0) | (lists ? WHOLE_LISTS : 0);
    if (status != MST_NOT_FOUND || strcmp(spec, "csv:-") == 0) return status;
    snprintf(first, sizeof first, "%s", mst_error()->message);
    for (unsigned whole = 1; whole <= can; whole++)
        if (!(whole & ~can) && !open_table(o, spec, part, whole, options, out)) return MST_OK;
    return MST_FAIL(status, "%s", first);
}
