/* csv:FILE is a table, which has a header unless .no_header is set; csv:- is one on standard input; csv:PREFIX stands
 * for PREFIX-train.csv, PREFIX-val.csv and PREFIX-test.csv, or their compressed forms PREFIX-train.csv.gz and so on;
 * csv:DIR for DIR/train.csv and so on. For
 * models with several inputs or outputs, columns are found by their names (csv_names.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path_list.h"
#include "data/spec/csv_names.h"
#include "data/spec/data_spec.h"
#include "data/spec/validation_part.h"
#include "data/text/text_data.h"
#include "data/text/text_schema.h"

enum { PATH_SIZE = 4096 };

/* Whether PREFIX is a folder with a file PART.csv, which is plain or gzip. Its path goes to PATH. */
static bool is_in_folder(const char *prefix, const char *part, char path[PATH_SIZE]) {
    const int size = snprintf(path, PATH_SIZE, "%s/%s.csv.gz", prefix, part);
    if (size < 0 || size >= PATH_SIZE) return false;
    path[size - (int)strlen(".gz")] = '\0';
    if (access(path, F_OK) == 0) return true;
    path[size - (int)strlen(".gz")] = '.';
    return access(path, F_OK) == 0;
}

static mst_status one_part_path(const char *prefix, const char *part, char path[PATH_SIZE]) {
    if (is_in_folder(prefix, part, path)) return MST_OK;
    const int size = snprintf(path, PATH_SIZE, "%s-%s.csv.gz", prefix, part);
    if (size < 0 || size >= PATH_SIZE) return MST_FAIL(MST_INVALID, "data: the prefix '%.80s...' is too long", prefix);
    char *const gz = path + size - strlen(".gz");
    *gz = '\0';
    if (access(path, F_OK) == 0) return MST_OK;
    *gz = '.';
    if (access(path, F_OK) == 0) return MST_OK;
    *gz = '\0';
    return MST_FAIL(MST_NOT_FOUND, "data: there is no file '%s', and no '%s': check the path", prefix, path);
}

/* The paths of the parts of all prefixes in the list PREFIX. */
static mst_status part_path(const char *prefix, const char *part, char path[PATH_SIZE]) {
    char *one = NULL, next[PATH_SIZE];
    size_t used = 0;
    mst_status status = MST_OK;
    if (!mst_path_list_is(prefix)) return one_part_path(prefix, part, path);
    for (const char *rest = prefix; rest && !status;) {
        status = mst_path_list_next(&rest, &one);
        if (!status) status = one_part_path(one, part, next);
        if (status) break;
        used += (size_t)snprintf(path + used, PATH_SIZE - used, "%s%s", used ? "\n" : "", next);
        if (used >= PATH_SIZE) status = MST_FAIL(MST_INVALID, "data: the list of prefixes '%.80s...' is too long", one);
    }
    free(one);
    return status;
}

/* Whether ARGUMENT is a whole table, and not the prefix of two. A folder may have the same name as a prefix. */
static bool is_one_file(const char *argument) {
    struct stat info;
    char path[PATH_SIZE];
    if (strcmp(argument, "-") == 0) return true;
    if (stat(argument, &info)) return false;
    if (!S_ISDIR(info.st_mode)) return true;
    const bool has_parts = !one_part_path(argument, "train", path) || !one_part_path(argument, "test", path);
    return !has_parts; /* a folder without parts is opened as a file, which gives the error */
}

/* The same of a list: whether its first name is. */
static bool is_file(const char *argument) {
    char *first = NULL;
    if (!mst_path_list_is(argument)) return is_one_file(argument);
    const bool is = !mst_path_list_next(&argument, &first) && is_one_file(first);
    free(first);
    return is;
}

static bool csv_spec_has(const char *argument) {
    char path[PATH_SIZE];
    return access(argument, F_OK) == 0 || !one_part_path(argument, "train", path) ||
           !one_part_path(argument, "test", path);
}

static mst_csv_options csv_options(const mst_data_options *o) {
    if (!o) return (mst_csv_options){0};
    return (mst_csv_options){.label = o->label,
                             .labels = o->labels,
                             .num_labels = o->num_labels,
                             .weight = o->weight,
                             .schema = o->schema,
                             .delimiter = o->delimiter,
                             .comment = o->comment,
                             .no_header = o->no_header,
                             .encoding = o->encoding,
                             .drop = o->drop,
                             .num_drop = o->num_drop,
                             .categories = o->categories,
                             .num_categories = o->num_categories,
                             .missing = o->missing,
                             .unknown_categories = o->unknown_categories,
                             .decimal = o->decimal,
                             .thousands = o->thousands,
                             .dates = o->dates,
                             .num_dates = o->num_dates,
                             .inputs_only = o->inputs_only && (o->schema || !o->text || o->raw_texts)};
}

/* The table at PATH. If OPTIONS name a column of texts, these become numbers. */
static mst_status open_table(const char *path, const mst_csv_options *table, const mst_data_options *options,
                             mst_dataset **out) {
    mst_csv_options o = *table;
    const bool is_text = options && (options->text || mst_text_schema_is(options->schema));
    if (!is_text) return mst_dataset_from_csv(path, &o, out);
    mst_dataset *texts;
    o.text = options->text ? options->text : "";
    MST_TRY(mst_dataset_from_csv(path, &o, &texts));
    return mst_text_data_make(path, texts, options, out);
}

/* Opens the test part of texts with the vocabulary and the classes of the train part. */
static mst_status open_test_of_texts(const char *train_path, const char *test_path, const mst_csv_options *table,
                                     const mst_data_options *options, mst_dataset **out) {
    mst_csv_options o = *table;
    mst_data_options with_schema = *options;
    mst_dataset *train;
    MST_TRY(open_table(train_path, table, options, &train));
    o.schema = with_schema.schema = mst_dataset_schema(train);
    with_schema.tokenizer = NULL; /* it is in the schema */
    o.drop = o.categories = o.dates = NULL;
    o.num_drop = o.num_categories = o.num_dates = 0;
    const mst_status status = open_table(test_path, &o, &with_schema, out);
    mst_dataset_release(train);
    return status;
}

static mst_status fail_train_part(const char *path) {
    const bool is_list = mst_path_list_is(path);
    return MST_FAIL(MST_NOT_FOUND,
                    "data: '%.*s'%s is the train part: for a test part name the prefix of files PREFIX-train.csv and "
                    "PREFIX-test.csv",
                    is_list ? (int)strcspn(path, "\n") : (int)strlen(path), path, is_list ? " and so on" : "");
}

/* Opens a table whose columns are found by the names of a model's inputs and outputs. */
static mst_status open_names(const char *argument, bool alone, bool test, const mst_data_options *o,
                             mst_dataset **out) {
    char train_path[PATH_SIZE], test_path[PATH_SIZE];
    bool has_labels;
    const char *option = o->label || o->num_labels ? "label"
                         : o->weight               ? "sample-weight"
                         : o->num_categories       ? "categories"
                         : o->num_dates            ? "dates"
                         : o->text                 ? "text"
                                                   : NULL;
    if (option)
        return MST_FAIL(MST_INVALID,
                        "data: 'csv:%s': its columns go by the names of the model's %d inputs and %d outputs: leave "
                        "%s out",
                        argument, o->num_inputs, o->num_outputs, option);
    if (!alone && (!test || !o->schema)) MST_TRY(part_path(argument, "train", train_path));
    if (!alone && test) MST_TRY(part_path(argument, "test", test_path));
    MST_TRY(mst_csv_names_open(alone  ? argument
                               : test ? test_path
                                      : train_path,
                               !alone && test && !o->schema ? train_path : NULL, o, out, &has_labels));
    const bool may_be_alone = (o->schema && !o->parts_only) || o->whole_file;
    if (!alone || !test || !has_labels || may_be_alone) return MST_OK;
    mst_dataset_release(*out);
    *out = NULL;
    return fail_train_part(argument);
}

/* Opens a table as a whole, for a model with one input. If it has as many columns as the input has numbers, all are the
 * input, and there are no labels; mst_csv_inputs_open gives NULL if it has another number. The columns of standard
 * input are not counted, because it cannot be read twice. */
static mst_status open_whole(const char *path, const mst_csv_options *table, const mst_data_options *options,
                             mst_dataset **out) {
    if (options->input_columns && !options->raw_texts && !table->schema && !table->label && !table->num_labels &&
        !table->num_drop && strcmp(path, "-") != 0) {
        MST_TRY(mst_csv_inputs_open(path, options, out));
        if (*out) return MST_OK;
    }
    return open_table(path, table, options, out);
}

/* The train part may be one table. One table is the test part only if it is asked for as a whole, or if a schema says
 * what is in it (unless only parts are wanted); otherwise it is taken for the train part, and this fails. Without a
 * schema the test part has the columns and categories of the train part beside it. */
static mst_status csv_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                     mst_dataset **out) {
    char train_path[PATH_SIZE], test_path[PATH_SIZE];
    const bool alone = is_file(argument);
    mst_csv_options o = csv_options(options);
    if (options && (options->num_inputs > 1 || options->num_outputs > 1))
        return open_names(argument, alone, test, options, out);
    if (alone && options && options->whole_file) return open_whole(argument, &o, options, out);
    if (alone && (!test || (o.schema && !options->parts_only))) return open_table(argument, &o, options, out);
    if (alone) return fail_train_part(argument);
    if (!test || !o.schema) MST_TRY(part_path(argument, "train", train_path));
    if (!test) return open_table(train_path, &o, options, out);
    MST_TRY(part_path(argument, "test", test_path));
    if (!o.schema && options && options->text) return open_test_of_texts(train_path, test_path, &o, options, out);
    if (!o.schema) o.like = train_path;
    return open_table(test_path, &o, options, out);
}

/* The validation part beside a train part. */
static bool csv_spec_validation(const char *argument, char *path, size_t size) {
    char file[PATH_SIZE];
    if (is_file(argument) || part_path(argument, "train", file)) return false;
    for (int i = 0; mst_validation_names[i]; i++)
        if (!part_path(argument, mst_validation_names[i], file)) return snprintf(path, size, "%s", file) < (int)size;
    return false;
}

const mst_data_spec mst_data_spec_csv = {
    .form = "csv:FILE",
    .help =
        "a table with a header, plain or gzip; - is standard input; or PREFIX of PREFIX-train.csv, PREFIX-val.csv, "
        "PREFIX-test.csv, or DIR of DIR/train.csv and so on; of "
        "a "
        "network with several inputs or outputs, columns by their names: left, or left_0, left_1",
    .suffix = ".csv",
    .takes = MST_SPEC_TABLE | MST_SPEC_TEXTS | MST_SPEC_NAMES | MST_SPEC_ENCODING | MST_SPEC_TOKENIZER,
    .has = csv_spec_has,
    .reads_lists = true,
    .validation = csv_spec_validation,
    .open_with = csv_spec_open_part,
};
