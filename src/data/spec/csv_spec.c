/* csv:FILE: a table with a header, csv:- that on standard input; or csv:PREFIX, for PREFIX-train.csv and
 * PREFIX-test.csv, or the same compressed, PREFIX-train.csv.gz and PREFIX-test.csv.gz. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/spec/data_spec.h"
#include "data/text/text_data.h"
#include "data/text/text_schema.h"

enum { PATH_SIZE = 4096 };

static mst_status part_path(const char *prefix, const char *part, char path[PATH_SIZE]) {
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

static mst_csv_options csv_options(const mst_data_options *o) {
    if (!o) return (mst_csv_options){0};
    return (mst_csv_options){.label = o->label,
                             .schema = o->schema,
                             .delimiter = o->delimiter,
                             .drop = o->drop,
                             .num_drop = o->num_drop,
                             .categories = o->categories,
                             .num_categories = o->num_categories,
                             .missing = o->missing,
                             .unknown_categories = o->unknown_categories};
}

/* The table at PATH, of whose texts OPTIONS make numbers where they name a column of these. */
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

/* The test part of texts has the vocabulary and the classes of the train part. */
static mst_status open_test_of_texts(const char *train_path, const char *test_path, const mst_csv_options *table,
                                     const mst_data_options *options, mst_dataset **out) {
    mst_csv_options o = *table;
    mst_data_options with_schema = *options;
    mst_dataset *train;
    MST_TRY(open_table(train_path, table, options, &train));
    o.schema = with_schema.schema = mst_dataset_schema(train);
    o.drop = o.categories = NULL;
    o.num_drop = o.num_categories = 0;
    const mst_status status = open_table(test_path, &o, &with_schema, out);
    mst_dataset_release(train);
    return status;
}

static mst_status csv_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                     mst_dataset **out) {
    char train_path[PATH_SIZE], test_path[PATH_SIZE];
    const bool alone = strcmp(argument, "-") == 0 || access(argument, F_OK) == 0;
    mst_csv_options o = csv_options(options);
    if (alone && (!test || o.schema)) return open_table(argument, &o, options, out);
    if (alone)
        return MST_FAIL(MST_NOT_FOUND,
                        "data: '%s' is the train part: for a test part name the prefix of files PREFIX-train.csv and "
                        "PREFIX-test.csv",
                        argument);
    if (!test || !o.schema) MST_TRY(part_path(argument, "train", train_path));
    if (!test) return open_table(train_path, &o, options, out);
    MST_TRY(part_path(argument, "test", test_path));
    if (!o.schema && options && options->text) return open_test_of_texts(train_path, test_path, &o, options, out);
    if (!o.schema) o.like = train_path;
    return open_table(test_path, &o, options, out);
}

const mst_data_spec mst_data_spec_csv = {
    .form = "csv:FILE",
    .help = "a table with a header, plain or gzip; - is standard input; or PREFIX of PREFIX-train.csv, PREFIX-test.csv",
    .suffix = ".csv",
    .takes = MST_SPEC_TABLE | MST_SPEC_TEXTS,
    .open_with = csv_spec_open_part,
};
