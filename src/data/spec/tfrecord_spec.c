/* tfrecord:PREFIX: tf.train.Example in PREFIX-train-00000-of-00010 and so on; tfrecord:FILE; tfrecord:PATTERN. The
 * first record decides what the features are. If the bytes of an input begin like a picture file, they are a
 * picture file in all records, which is decoded and resized. Other bytes are elements of u8. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "base/path_list.h"
#include "data/example_bytes.h"
#include "data/example_form.h"
#include "data/labels_file.h"
#include "data/schema_file.h"
#include "data/spec/data_spec.h"
#include "format/image.h"
#include "format/tfrecord.h"

enum { NUMBERS = sizeof "-00000-of-00010" - 1, PATH_SIZE = 4096, MOST_FEATURES = 64 };

/* Escapes the characters of NAME that have a meaning in a pattern. False if PATTERN is too small. */
static bool escape(const char *name, char *pattern, size_t size) {
    size_t used = 0;
    for (; *name && used + 2 < size; name++) {
        if (strchr("*?[]\\", *name)) pattern[used++] = '\\';
        pattern[used++] = *name;
    }
    pattern[used] = '\0';
    return !*name;
}

/* Reads the numbers in "-00003-of-00010" at the end of PATH. */
static void read_numbers(const char *path, size_t *number, size_t *all) {
    const char *numbers = path + strlen(path) - NUMBERS;
    *number = strtoul(numbers + 1, NULL, 10);
    *all = strtoul(numbers + sizeof "-00000-of-" - 1, NULL, 10);
}

/* Checks that no shard is missing. Shards are sorted by their number: the I-th file must be number I of as many as
 * there are files. */
static mst_status check_shards(const glob_t *found) {
    size_t number, all, first, missing = 0;
    read_numbers(found->gl_pathv[0], &number, &first);
    for (size_t i = 0; i < found->gl_pathc; i++) {
        read_numbers(found->gl_pathv[i], &number, &all);
        if (all != first)
            return MST_FAIL(MST_INVALID, "'%s': shards of two sets have the same prefix: remove those of one",
                            found->gl_pathv[i]);
        missing += number == missing; /* the shards with numbers below it are there */
    }
    if (missing == first && found->gl_pathc == first) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s' is there, but shard %zu of %zu is missing", found->gl_pathv[0], missing, first);
}

static mst_status open_shards(const char *prefix, bool test, const mst_tfrecord_options *options, mst_dataset **out) {
    char pattern[PATH_SIZE];
    glob_t found;
    const char *part = test ? "test" : "train";
    const size_t used = escape(prefix, pattern, PATH_SIZE - 100) ? strlen(pattern) : 0;
    if (!used) return MST_FAIL(MST_INVALID, "data: the prefix '%.80s...' is too long, or empty", prefix);
    snprintf(pattern + used, sizeof pattern - used, "-%s-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]", part);
    const int failed = glob(pattern, 0, NULL, &found);
    if (failed == GLOB_NOSPACE) return MST_NO_MEMORY("for the names of files");
    if (failed)
        return MST_FAIL(MST_NOT_FOUND, "data: %s '%s', and no '%s-%s-00000-of-...': %s",
                        mst_is_folder(prefix) ? "there is a folder" : "there is no file", prefix, prefix, part,
                        mst_is_folder(prefix) ? "name the files in it, or their prefix"
                                              : "check the path; muster convert makes such files");
    mst_status status = check_shards(&found);
    if (!status)
        status = mst_dataset_from_tfrecord((const char *const *)found.gl_pathv, (int)found.gl_pathc, options, out);
    globfree(&found);
    return status;
}

/* Opens the files of LIST, one after the other. */
static mst_status open_list(const char *list, const mst_tfrecord_options *options, mst_dataset **out) {
    char **path = NULL, *one = NULL, *pattern = NULL;
    int64_t count = 0, capacity = 0;
    mst_status status = MST_OK;
    for (const char *rest = list; rest && !status;) {
        status = mst_path_list_next(&rest, &one);
        if (!status) status = mst_grow(&path, sizeof *path, count + 1, &capacity);
        if (!status)
            status = (pattern = malloc(2 * strlen(one) + 3)) ? MST_OK : MST_NO_MEMORY("for the names of files");
        if (status) break;
        (void)escape(one, pattern, 2 * strlen(one) + 3);
        path[count++] = pattern;
    }
    if (!status) status = mst_dataset_from_tfrecord((const char *const *)path, (int)count, options, out);
    for (int64_t i = 0; i < count; i++) free(path[i]);
    free(path);
    free(one);
    return status;
}

/* Whether ARGUMENT is a file or a list of them, and not a prefix. */
static bool is_file(const char *argument) {
    return mst_path_list_is(argument) || (access(argument, F_OK) == 0 && !mst_is_folder(argument));
}

static bool tfrecord_spec_has(const char *argument) {
    mst_dataset *records = NULL;
    static const mst_tfrecord_options forward = {.forward = true};
    const bool has = is_file(argument) || !open_shards(argument, false, &forward, &records) ||
                     !open_shards(argument, true, &forward, &records);
    mst_dataset_release(records);
    return has;
}

static mst_status open_records(const char *argument, bool test, const mst_data_options *options, mst_dataset **out) {
    const mst_tfrecord_options o = {.skip_corrupt = options ? options->skip_corrupt : 0};
    if (is_file(argument) && test)
        return MST_FAIL(MST_NOT_FOUND,
                        "data: '%s' is the train part: for a test part name the prefix of files PREFIX-train-... and "
                        "PREFIX-test-...",
                        argument);
    return is_file(argument) ? open_list(argument, &o, out) : open_shards(argument, test, &o, out);
}

/* Finds the features with the names of a model's inputs and outputs. */
static mst_status find_named(const mst_record *record, const mst_data_options *o, mst_feature features[MOST_FEATURES],
                             int *count) {
    const char *names[MOST_FEATURES];
    const int n = o->num_inputs + o->num_outputs;
    if (n > MOST_FEATURES) return MST_FAIL(MST_INVALID, "more than %d inputs and outputs", MOST_FEATURES);
    for (int i = 0; i < n; i++) names[i] = i < o->num_inputs ? o->inputs[i] : o->outputs[i - o->num_inputs];
    return mst_example_form_named(record->data, record->size, names, o->num_inputs, n, features, count);
}

/* Whether FEATURE, found to be bytes, is a picture file in RECORD. Bytes whose shape is in the record are elements. */
static bool is_picture_file(const mst_record *record, const mst_feature *feature) {
    const mst_feature file = {.name = feature->name, .dtype = MST_STRING};
    mst_example_parser *parser;
    mst_string bytes = {0};
    if (feature->dtype != MST_U8 || feature->shape.ndim != 1 || mst_example_parser_create(&file, 1, &parser))
        return false;
    const bool found = mst_example_parse(parser, record->data, record->size, (void *const[]){&bytes}) == MST_OK;
    mst_example_parser_destroy(parser);
    return found && mst_image_begins(bytes.data, bytes.length);
}

/* Makes strings of the first NUM_INPUTS features, the inputs, if they are picture files. */
static void find_pictures(const mst_record *record, mst_feature *features, int num_inputs) {
    for (int i = 0; i < num_inputs; i++)
        if (is_picture_file(record, &features[i]))
            features[i] = (mst_feature){.name = features[i].name, .dtype = MST_STRING};
}

/* Checks in the first few records that elements of u8 do not look like numbers of several bytes. RECORD is the first
 * one, which IT has given already. */
static mst_status tfrecord_spec_numbers(mst_iterator *it, mst_record record, const mst_feature *inputs,
                                        int num_inputs) {
    enum { MOST_RECORDS = 8 };
    mst_number_look looks[MOST_FEATURES] = {{0}};
    const mst_batch *batch;
    for (int n = 1;; n++) {
        bool is_open = false;
        for (int i = 0; i < num_inputs; i++)
            is_open |= mst_example_form_look(record.data, record.size, &inputs[i], &looks[i]);
        if (!is_open || n == MOST_RECORDS) break;
        if (mst_iterator_next(it, &batch) || !batch || mst_batch_record(batch, 0, &record)) break;
    }
    for (int i = 0; i < num_inputs; i++) MST_TRY(mst_example_bytes_check_look(inputs[i].name, &looks[i]));
    return MST_OK;
}

/* Parses the records with the features of the first one. */
static mst_status tfrecord_spec_parse(mst_dataset *records, const char *argument, const mst_data_options *options,
                                      mst_dataset **out) {
    mst_iterator *it;
    const mst_batch *batch = NULL;
    mst_record record = {0};
    mst_feature features[MOST_FEATURES] = {{0}};
    const bool several = options && (options->num_inputs > 1 || options->num_outputs > 1);
    char text[2][MST_FORM_TEXT];
    int count = 0;
    MST_TRY(mst_iterator_create(records, 0, &it));
    mst_status status = mst_iterator_next(it, &batch);
    if (!status && !batch) status = MST_FAIL(MST_INVALID, "data: the files of '%s' have no records", argument);
    if (!status) status = mst_batch_record(batch, 0, &record);
    if (!status && (several ? find_named(&record, options, features, &count)
                            : mst_example_form_find(record.data, record.size, features, text, &count)))
        status = mst_error_prefix("data: '%s'", argument);
    const int num_inputs = several ? options->num_inputs : 1;
    if (!status) find_pictures(&record, features, num_inputs);
    if (!status && tfrecord_spec_numbers(it, record, features, num_inputs))
        status = mst_error_prefix("data: '%s'", argument);
    mst_iterator_destroy(it);
    return status ? status : mst_dataset_parse_example(records, features, count, out);
}

/* Fails if pictures of another size or with other channels were asked for, since elements cannot be resized. A size
 * fits rows with as many pixels, also flat ones. */
static mst_status check_elements(const mst_dataset *rows, const char *argument, const mst_data_options *o) {
    char text[MST_SHAPE_TEXT];
    const mst_shape shape = rows->row[0].shape;
    const int64_t size = o ? o->image_size : 0;
    const bool fits = size <= 0 || (shape.ndim > 1 ? shape.dim[0] == size && shape.dim[1] == size
                                                   : mst_shape_count(shape) % (size * size) == 0);
    if (fits && !(o && o->channels)) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "data: '%s' has no picture files to resize: the first record has elements, %s %s, and no PNG or "
                    "JPEG file",
                    argument, mst_dtype_name(rows->row[0].dtype), mst_shape_print(shape, text, sizeof text));
}

/* Decodes picture files to pictures of one size. */
static mst_status tfrecord_spec_decode(mst_dataset *rows, const char *argument, const mst_data_options *options,
                                       mst_dataset **out) {
    const int64_t size = options ? options->image_size : 0;
    const mst_images_options o = {.height = size > 0 ? size : 0,
                                  .width = size > 0 ? size : 0,
                                  .channels = options ? (int)options->channels : 0,
                                  .fit = size == MST_IMAGE_SIZE_FIT};
    bool any = false;
    *out = mst_dataset_retain(rows);
    for (int i = 0; i < rows->num_components; i++) {
        mst_dataset *before = *out;
        if (rows->row[i].dtype != MST_STRING) continue;
        any = true;
        const mst_status status = mst_dataset_decode_images(before, i, &o, out);
        mst_dataset_release(before);
        if (status) return mst_error_prefix("data: '%s'", argument);
    }
    const mst_status status = any ? MST_OK : check_elements(rows, argument, options);
    if (!status) return MST_OK;
    mst_dataset_release(*out);
    *out = NULL;
    return status;
}

/* Completes the rows: caches them if their number is not known, decodes picture files, and adds the names of classes
 * and the schema if there are files with these. */
static mst_status complete(mst_dataset *rows, const char *argument, const mst_data_options *options,
                           mst_dataset **out) {
    mst_dataset *counted, *decoded, *named;
    if (rows->cardinality >= 0)
        counted = mst_dataset_retain(rows);
    else
        MST_TRY(mst_dataset_cache(rows, &counted));
    mst_status status = tfrecord_spec_decode(counted, argument, options, &decoded);
    mst_dataset_release(counted);
    MST_TRY(status);
    status = mst_class_names_read(argument, decoded, &named);
    mst_dataset_release(decoded);
    MST_TRY(status);
    status = mst_schema_file_read(argument, named, out);
    mst_dataset_release(named);
    return status;
}

/* PREFIX stands for PREFIX-train-00000-of-00010 and so on, and PREFIX-test-...; all shards must be there. A file or a
 * pattern is the train part. The first Example decides what the features are. Compressed files are read into memory, so
 * that the order is the same as with plain files. OPTIONS may be NULL. */
static mst_status tfrecord_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                          mst_dataset **out) {
    mst_dataset *records, *rows;
    *out = NULL;
    MST_TRY(open_records(argument, test, options, &records));
    mst_status status = tfrecord_spec_parse(records, argument, options, &rows);
    mst_dataset_release(records);
    MST_TRY(status);
    status = complete(rows, argument, options, out);
    mst_dataset_release(rows);
    return status;
}

const mst_data_spec mst_data_spec_tfrecord = {
    .form = "tfrecord:PREFIX",
    .help =
        "Examples in PREFIX-train-00000-of-00010 ..., PREFIX-test-...; picture files in them are decoded; of a "
        "network with several inputs or outputs, features by their names",
    .suffix = ".tfrecord",
    .has = tfrecord_spec_has,
    .reads_lists = true,
    .takes = MST_SPEC_SKIP_CORRUPT | MST_SPEC_NAMES | MST_SPEC_IMAGE_SIZE | MST_SPEC_PICTURES,
    .open_with = tfrecord_spec_open_part,
};
