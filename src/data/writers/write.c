#include "data/writers/write.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/argument.h"

enum { LIST_SIZE = 256, PATH_SIZE = 4096 };

mst_status mst_write_gather(mst_dataset *dataset, int i, mst_tensor **out) {
    mst_dataset *rows = mst_dataset_retain(dataset), *all;
    mst_iterator *it = NULL;
    const mst_batch *batch = NULL;
    mst_status status = MST_OK;
    *out = NULL;
    if (dataset->cardinality < 0) { /* one batch of all rows needs their number */
        mst_dataset_release(rows);
        MST_TRY(mst_dataset_cache(dataset, &rows));
    }
    status = mst_dataset_batch(rows, INT64_MAX, false, &all);
    mst_dataset_release(rows);
    MST_TRY(status);
    status = mst_iterator_create(all, 0, &it);
    if (!status) status = mst_iterator_next(it, &batch);
    if (!status && !batch) status = MST_FAIL(MST_INVALID, "write: the dataset has no rows");
    if (!status) status = mst_batch_tensor(batch, i, out);
    mst_iterator_destroy(it);
    mst_dataset_release(all);
    return status;
}

static mst_status check_part(const mst_dataset *part) {
    if (!part) return MST_OK;
    MST_TRY(mst_dataset_want_rows(part, "write"));
    if (part->num_components > 2)
        return MST_FAIL(MST_INVALID, "write: the rows have %d components, inputs and labels are possible",
                        part->num_components);
    if (part->cardinality == MST_INFINITE) return MST_FAIL(MST_INVALID, "write: the dataset has no end");
    for (int i = 0; i < part->num_components; i++) {
        MST_TRY(mst_dataset_want_values(part, i, "write"));
        if (part->row[i].dtype == MST_STRING)
            return MST_FAIL(MST_UNIMPLEMENTED, "write: component %d is string, only numbers can be written", i);
    }
    return MST_OK;
}

static mst_status write_unknown(const char *spec) {
    char list[LIST_SIZE] = "";
    for (const mst_data_writer *const *writer = mst_data_writer_table; *writer; writer++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", !used ? "" : writer[1] ? ", " : " or ", (*writer)->form);
    }
    return MST_FAIL(MST_INVALID, "data: '%s' cannot be written: use %s", spec, list);
}

/* The first file whose name is ARGUMENT, taken literally, followed by the pattern ENDING; empty if there is none. */
static mst_status find_file(const char *argument, const char *ending, char found[PATH_SIZE]) {
    char pattern[2 * PATH_SIZE];
    size_t used = 0;
    glob_t list;
    struct stat info;
    *found = '\0';
    if (strlen(argument) + strlen(ending) >= PATH_SIZE) return MST_FAIL(MST_INVALID, "data: the path is too long");
    for (const char *c = argument; *c; c++) {
        if (strchr("*?[\\", *c)) pattern[used++] = '\\';
        pattern[used++] = *c;
    }
    snprintf(pattern + used, sizeof pattern - used, "%s", ending);
    if (glob(pattern, 0, NULL, &list) == 0) {
        const bool is_file = stat(list.gl_pathv[0], &info) != 0 || !S_ISDIR(info.st_mode);
        if (is_file) snprintf(found, PATH_SIZE, "%s", list.gl_pathv[0]);
        globfree(&list);
    }
    return MST_OK;
}

static mst_status check_no_file(const mst_data_writer *writer, const char *argument) {
    char found[PATH_SIZE];
    for (const char *const *ending = writer->files; ending && *ending; ending++) {
        MST_TRY(find_file(argument, *ending, found));
        if (*found) return MST_FAIL(MST_EXISTS, "'%s' is there already: remove it, or name another place", found);
    }
    return MST_OK;
}

mst_status mst_dataset_write(const char *spec, mst_dataset *train, mst_dataset *test,
                             const mst_write_options *options) {
    if (MST_IS_NULL(spec) || MST_IS_NULL(train)) return MST_INVALID;
    static const mst_write_options defaults;
    if (!options) options = &defaults;
    MST_TRY(mst_dataset_check(train));
    if (test) MST_TRY(mst_dataset_check(test));
    MST_TRY(check_part(train));
    MST_TRY(check_part(test));
    MST_TRY(mst_dataset_want_least("write", "num_shards", options->num_shards, 0));
    for (const mst_data_writer *const *writer = mst_data_writer_table; *writer; writer++) {
        const size_t size = strlen((*writer)->name);
        if (strncmp(spec, (*writer)->name, size) != 0) continue;
        if (!spec[size])
            return MST_FAIL(MST_INVALID, "data: '%s' names nothing after the colon: write %s", spec, (*writer)->form);
        if (!(*writer)->has_shards && (options->num_shards || options->compression))
            return MST_FAIL(MST_INVALID, "data: '%s' has no shards and no compression: those are for tfrecord:PREFIX",
                            spec);
        if (options->keep_files) MST_TRY(check_no_file(*writer, spec + size));
        return (*writer)->write(spec + size, train, test, options);
    }
    return write_unknown(spec);
}
