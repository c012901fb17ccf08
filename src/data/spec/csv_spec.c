/* csv:FILE: a table with a header, csv:- that on standard input; or csv:PREFIX, for PREFIX-train.csv and
 * PREFIX-test.csv, or the same compressed, PREFIX-train.csv.gz and PREFIX-test.csv.gz. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/spec/data_spec.h"

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

static mst_status csv_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                     mst_dataset **out) {
    char train_path[PATH_SIZE], test_path[PATH_SIZE];
    const bool alone = strcmp(argument, "-") == 0 || access(argument, F_OK) == 0;
    mst_csv_options o = csv_options(options);
    if (alone && (!test || o.schema)) return mst_dataset_from_csv(argument, &o, out);
    if (alone)
        return MST_FAIL(MST_NOT_FOUND,
                        "data: '%s' is the train part: for a test part name the prefix of files PREFIX-train.csv and "
                        "PREFIX-test.csv",
                        argument);
    if (!test || !o.schema) MST_TRY(part_path(argument, "train", train_path));
    if (!test) return mst_dataset_from_csv(train_path, &o, out);
    MST_TRY(part_path(argument, "test", test_path));
    if (!o.schema) o.like = train_path;
    return mst_dataset_from_csv(test_path, &o, out);
}

const mst_data_spec mst_data_spec_csv = {
    .form = "csv:FILE",
    .help = "a table with a header, plain or gzip; - is standard input; or PREFIX of PREFIX-train.csv, PREFIX-test.csv",
    .suffix = ".csv",
    .takes = MST_SPEC_TABLE,
    .open_with = csv_spec_open_part,
};
