/* csv:FILE: a table with a header; or csv:PREFIX, for PREFIX-train.csv and PREFIX-test.csv. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/spec/data_spec.h"

enum { PATH_SIZE = 4096 };

static mst_status part_path(const char *prefix, const char *part, char path[PATH_SIZE]) {
    const int size = snprintf(path, PATH_SIZE, "%s-%s.csv", prefix, part);
    if (size < 0 || size >= PATH_SIZE) return MST_FAIL(MST_INVALID, "data: the prefix '%.80s...' is too long", prefix);
    if (access(path, F_OK) == 0) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND, "data: there is no file '%s', and no '%s': check the path", prefix, path);
}

static mst_status csv_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                     mst_dataset **out) {
    char train_path[PATH_SIZE], test_path[PATH_SIZE];
    mst_csv_options o = {.label = options ? options->label : NULL, .schema = options ? options->schema : NULL};
    if (access(argument, F_OK) == 0 && (!test || o.schema)) return mst_dataset_from_csv(argument, &o, out);
    if (access(argument, F_OK) == 0)
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
    .help = "a table with a header; or PREFIX of PREFIX-train.csv, PREFIX-test.csv",
    .suffix = ".csv",
    .takes = MST_SPEC_LABEL,
    .open_with = csv_spec_open_part,
};
