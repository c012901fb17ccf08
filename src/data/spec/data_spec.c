/* Data specs: one line of text that names a dataset. Each kind is a file of src/data/spec/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "base/ending.h"
#include "base/failure.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "base/path_list.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/schema.h"
#include "data/spec/data_spec.h"
#include "data/spec/spec_list.h"
#include "data/spec/spec_options.h"
#include "data/spec/validation_part.h"

enum { WORD_SIZE = 64, LIST_SIZE = 512, MOST_KINDS = 63, PATH_SIZE = 4096 };

static bool can_open(const mst_data_spec *kind) {
    return kind->open || kind->open_with;
}

/* What the kind of SPEC takes, as bits MST_SPEC_... */
static unsigned takes_of(const char *spec) {
    const mst_data_spec *kind = MST_IS_NULL(spec) ? NULL : mst_data_spec_find(spec);
    return kind ? kind->takes : 0;
}

bool mst_dataset_spec_has_pictures(const char *spec) {
    return takes_of(spec) & MST_SPEC_IMAGE_SIZE;
}

bool mst_dataset_spec_has_texts(const char *spec) {
    const unsigned takes = takes_of(spec);
    return takes & MST_SPEC_TEXTS && !(takes & MST_SPEC_TABLE);
}

/* The I-th kind that can be opened. */
static const mst_data_spec *kind_at(int i) {
    const mst_data_spec *const *kind = mst_data_spec_table;
    for (; *kind; kind++)
        if (can_open(*kind) && i-- == 0) break;
    return *kind;
}

const char *mst_dataset_form(int i) {
    const mst_data_spec *kind = kind_at(i);
    return kind ? kind->form : NULL;
}

const char *mst_dataset_form_help(int i) {
    const mst_data_spec *kind = kind_at(i);
    return kind ? kind->help : NULL;
}

/* Writes the forms of all kinds that can be opened: "fashion-mnist, idx:DIR or npz:FILE". */
static const char *list_forms(char *text, size_t size) {
    *text = '\0';
    for (int i = 0; kind_at(i); i++) {
        const size_t used = strlen(text);
        const char *between = i == 0 ? "" : kind_at(i + 1) ? ", " : " or ";
        snprintf(text + used, size - used, "%s%s", between, kind_at(i)->form);
    }
    return text;
}

/* Whether PATH ends in SUFFIX; if SUFFIX is "/", whether PATH is a folder. */
static bool has_suffix(const char *path, const char *suffix) {
    if (suffix && strcmp(suffix, "/") == 0) return mst_is_folder(path);
    return suffix && !strchr(path, ':') && mst_ends_in(path, suffix);
}

/* The kind that recognises PATH by its own check (holds); NULL: none. */
static const mst_data_spec *kind_that_holds(const char *path) {
    for (const mst_data_spec *const *kind = mst_data_spec_table; *kind; kind++)
        if ((*kind)->holds && (*kind)->holds(path)) return *kind;
    return NULL;
}

/* The error for a spec of KIND that cannot be read; if another kind could read PATH, it names that kind. */
static mst_status explain(const mst_data_spec *kind, const char *path, mst_status status) {
    mst_failure failure;
    if (status != MST_NOT_FOUND && status != MST_IO) return status;
    mst_failure_keep(&failure, status);
    const mst_data_spec *other = kind_that_holds(path);
    if (!other || other == kind) return mst_failure_restore(&failure);
    return MST_FAIL(status, "data: '%s' holds no %.*s, but what %.*s reads: write '%.*s%s'", path,
                    (int)mst_data_spec_name_size(kind) - 1, kind->form, (int)mst_data_spec_name_size(other) - 1,
                    other->form, (int)mst_data_spec_name_size(other), other->form, path);
}

/* The error for a SPEC that begins with no known name. It suggests the kind that fits the suffix of a path, or else the
 * nearest name. */
static mst_status data_spec_unknown(const char *spec) {
    const char *names[MOST_KINDS + 1] = {NULL};
    char word[WORD_SIZE], name[MOST_KINDS][WORD_SIZE], list[LIST_SIZE];
    size_t size = strcspn(spec, ":");
    size += spec[size] == ':';
    const mst_data_spec *holder = kind_that_holds(spec);
    if (holder)
        return MST_FAIL(MST_INVALID, "data: '%s' names no kind of data: write '%.*s%s'", spec,
                        (int)mst_data_spec_name_size(holder), holder->form, spec);
    for (int i = 0; mst_data_spec_table[i] && i < MOST_KINDS; i++) {
        const mst_data_spec *kind = mst_data_spec_table[i];
        if (can_open(kind) && has_suffix(spec, kind->suffix))
            return MST_FAIL(MST_INVALID, "data: '%s' names no kind of data: write '%.*s%s'", spec,
                            (int)mst_data_spec_name_size(kind), kind->form, spec);
        snprintf(name[i], WORD_SIZE, "%.*s", (int)mst_data_spec_name_size(kind), kind->form);
        names[i] = name[i];
    }
    snprintf(word, sizeof word, "%.*s", size < WORD_SIZE ? (int)size : 0, spec);
    const char *nearest = mst_nearest(word, names);
    for (int i = 0; nearest && names[i]; i++)
        if (nearest == names[i])
            return MST_FAIL(MST_INVALID, "data: unknown spec '%s': did you mean '%s'?", spec,
                            mst_data_spec_table[i]->form);
    return MST_FAIL(MST_INVALID, "data: unknown spec '%s': use %s", spec, list_forms(list, sizeof list));
}

/* Fails if an option is given that KIND does not take, or a number of channels that pictures cannot have. */
static mst_status check_options(const char *spec, const mst_data_spec *kind, const mst_data_options *o) {
    const struct {
        bool given;
        const char *option;
    } options[] = {
        {o->skip_corrupt != 0, "skip-corrupt"},
        {o->delimiter, "delimiter"},
        {o->comment, "comment"},
        {o->weight, "sample-weight"},
        {o->no_header, "no-header"},
        {o->num_drop, "drop"},
        {o->num_categories, "categories"},
        {o->missing, "missing"},
        {o->decimal, "decimal"},
        {o->thousands, "thousands"},
        {o->num_dates, "dates"},
        {o->text, "text"},
        {o->encoding, "encoding"},
        {o->label || o->num_labels, "label"},
        {o->image_size != 0, "image-size"},
        {o->channels != 0, "channels"},
        {o->max_tokens != 0, "max-tokens"},
        {o->sequence_length != 0, "sequence-length"},
        {o->pad_front, "pad"},
        {o->tokenizer, "tokenizer"},
    };
    /* A schema does not tell here whether the input is a column of texts: then a table has what either has. */
    const bool has_texts = o->text || o->schema;
    char why[MST_SPEC_REASON];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given && mst_spec_lacks(spec, options[i].option, false, "", why) &&
            !(has_texts && !mst_spec_lacks(spec, options[i].option, true, "", why)))
            return MST_FAIL(MST_INVALID, "data: '%s' %s", spec, why);
    if ((o->num_inputs > 1 || o->num_outputs > 1) && !(kind->takes & MST_SPEC_NAMES))
        return MST_FAIL(MST_INVALID,
                        "data: '%s' has inputs and labels without names, and the model has %d inputs and %d outputs: "
                        "npz:FILE has an array for each of them, tfrecord:PREFIX a feature, csv:FILE a column",
                        spec, o->num_inputs, o->num_outputs);
    if (o->channels && o->channels != 1 && o->channels != 3)
        return MST_FAIL(MST_INVALID, "data: channels is %lld: 1 is gray, 3 is red, green and blue",
                        (long long)o->channels);
    return MST_OK;
}

mst_status mst_dataset_open(const char *spec, const char *part, mst_dataset **out) {
    return mst_dataset_open_with(spec, part, NULL, out);
}

mst_dataset *mst_data_open(const char *spec, const char *part) {
    MST_DATASET_OPEN(mst_dataset_open(spec, part, &out));
}

/* ---- opening ---- */

static mst_status open_one(const mst_data_spec *kind, const char *argument, bool test, const mst_data_options *options,
                           mst_dataset **out) {
    return kind->open_with ? kind->open_with(argument, test, options, out) : kind->open(argument, test, out);
}

typedef struct pieces {
    mst_dataset **dataset;
    int64_t count, capacity;
} pieces;

/* Opens each name of LIST, with the classes of the first. */
static mst_status open_pieces(const mst_data_spec *kind, const char *list, bool test, const mst_data_options *options,
                              pieces *p) {
    mst_data_options o = options ? *options : (mst_data_options){0};
    char *path = NULL;
    mst_status status = MST_OK;
    for (const char *rest = list; rest && !status;) {
        mst_dataset *next = NULL;
        status = mst_path_list_next(&rest, &path);
        if (!status) status = mst_grow(&p->dataset, sizeof *p->dataset, p->count + 1, &p->capacity);
        if (!status) status = open_one(kind, path, test, &o, &next);
        if (status) break;
        p->dataset[p->count++] = next;
        if (!o.schema) o.schema = mst_dataset_schema(next);
        if (p->count > 1 && next->num_components == p->dataset[0]->num_components) continue;
        if (p->count > 1)
            status = MST_FAIL(MST_INVALID, "data: '%s': has %d arrays, '%.*s' before it has %d", path,
                              next->num_components, (int)strcspn(list, "\n"), list, p->dataset[0]->num_components);
    }
    free(path);
    return status;
}

/* Gives *DATASET the names of classes and the schema of FROM. */
static mst_status describe_pieces(const mst_dataset *from, mst_dataset **dataset) {
    const char *schema = mst_dataset_schema(from);
    mst_dataset *next;
    for (int i = 0; i < from->num_components; i++) {
        int64_t n = 0;
        const char *const *names = mst_dataset_classes(from, i, &n);
        if (!names) continue;
        MST_TRY(mst_dataset_name_classes(*dataset, i, names, n, &next));
        mst_dataset_release(*dataset);
        *dataset = next;
    }
    if (!schema) return MST_OK;
    char *text = strdup(schema);
    if (!text) return MST_NO_MEMORY("for a schema");
    MST_TRY(mst_dataset_add_schema(*dataset, text, &next));
    mst_dataset_release(*dataset);
    *dataset = next;
    return MST_OK;
}

/* The rows of all names of LIST, one after the other. */
static mst_status open_each(const mst_data_spec *kind, const char *list, bool test, const mst_data_options *options,
                            mst_dataset **out) {
    const mst_interleave_options in_turn = {.cycle_length = 1, .block_length = INT64_MAX};
    pieces p = {.count = 0};
    mst_status status = open_pieces(kind, list, test, options, &p);
    if (!status) status = mst_dataset_interleave(p.dataset, (int)p.count, &in_turn, out);
    if (!status && describe_pieces(p.dataset[0], out)) {
        status = mst_error()->code;
        mst_dataset_release(*out);
        *out = NULL;
    }
    for (int64_t i = 0; i < p.count; i++) mst_dataset_release(p.dataset[i]);
    free(p.dataset);
    return status;
}

/* Opens ARGUMENT, which may be a list. */
static mst_status open_argument(const mst_data_spec *kind, const char *argument, bool test,
                                const mst_data_options *options, mst_dataset **out) {
    char *list;
    MST_TRY(mst_spec_list_read(kind, argument, &list));
    if (!list) return open_one(kind, argument, test, options, out);
    const bool is_one = !strchr(list, MST_PATH_LIST_END);
    const mst_status status = is_one || kind->reads_lists ? open_one(kind, list, test, options, out)
                                                          : open_each(kind, list, test, options, out);
    free(list);
    return status;
}

mst_status mst_dataset_open_with(const char *spec, const char *part, const mst_data_options *options,
                                 mst_dataset **out) {
    if (MST_IS_NULL(spec) || MST_IS_NULL(part) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    bool test = strcmp(part, "test") == 0;
    if (!test && strcmp(part, "train") != 0)
        return MST_FAIL(MST_INVALID, "data: unknown part '%s': use \"train\" or \"test\"", part);
    for (const mst_data_spec *const *kind = mst_data_spec_table; *kind; kind++) {
        const char *form = (*kind)->form;
        const size_t size = mst_data_spec_name_size(*kind);
        const bool takes_argument = form[size - 1] == ':';
        char list[LIST_SIZE];
        if (strncmp(spec, form, size) != 0 || (!takes_argument && spec[size])) continue;
        if (!can_open(*kind))
            return MST_FAIL(MST_UNIMPLEMENTED, "data: '%s' is not supported yet: use %s", spec,
                            list_forms(list, sizeof list));
        if (takes_argument && !spec[size])
            return MST_FAIL(MST_INVALID, "data: '%s' names nothing after the colon: write %s", spec, form);
        if (options) MST_TRY(check_options(spec, *kind, options));
        if (!takes_argument) return open_one(*kind, spec + size, test, options, out);
        return explain(*kind, spec + size, open_argument(*kind, spec + size, test, options, out));
    }
    return data_spec_unknown(spec);
}

mst_status mst_validation_spec(const char *spec, char **out) {
    char path[PATH_SIZE];
    *out = NULL;
    for (const mst_data_spec *const *kind = mst_data_spec_table; *kind; kind++) {
        const size_t size = mst_data_spec_name_size(*kind);
        if (strncmp(spec, (*kind)->form, size) != 0) continue;
        if (!(*kind)->validation || !(*kind)->validation(spec + size, path, sizeof path)) return MST_OK;
        if (asprintf(out, "%.*s%s", (int)size, spec, path) >= 0) return MST_OK;
        *out = NULL;
        return MST_NO_MEMORY("for the name of the validation part");
    }
    return MST_OK;
}

mst_dataset *mst_data_open_with(const char *spec, const char *part, const mst_data_options *options) {
    MST_DATASET_OPEN(mst_dataset_open_with(spec, part, options, &out));
}
