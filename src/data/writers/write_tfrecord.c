/* tfrecord:PREFIX: rows as tf.train.Example, in shards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/long_work.h"
#include "base/no_memory.h"
#include "data/labels_file.h"
#include "data/schema_file.h"
#include "data/writers/write.h"

enum { PATH_SIZE = 4096, MOST_SHARDS = 99999, MOST_FEATURES = 4 };

/* The part (train or test) that is being written, and its files. */
typedef struct part {
    const char *prefix, *name;
    mst_dataset *rows; /* with i64 labels if they are integers */
    int64_t num_rows, num_shards;
    mst_tfrecord_compression compression;
    mst_feature_data feature[MOST_FEATURES];
    int num_features;
    int64_t num_pixels; /* elements of a row of u8 */
    char *value[2];     /* components of one row */
    uint8_t *example;
    size_t capacity;
} part;

static mst_status check_dtype(const part *p, int component) {
    const mst_dtype dtype = p->rows->row[component].dtype;
    if (dtype != MST_F64 && dtype != MST_BF16) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "tfrecord: %s are %s, which an Example cannot hold: save them as f32",
                    component ? "labels" : "inputs", mst_dtype_name(dtype));
}

/* Adds a feature. TensorFlow writes features in the order of their names. */
static void add_feature(part *p, const char *name, mst_dtype dtype, const void *data, int64_t count) {
    int i = p->num_features++;
    for (; i > 0 && strcmp(p->feature[i - 1].name, name) > 0; i--) p->feature[i] = p->feature[i - 1];
    p->feature[i] = (mst_feature_data){name, dtype, data, count};
}

/* Sets the features to those of the row in p->value. */
static void set_features(part *p) {
    p->num_features = 0;
    for (int c = 0; c < p->rows->num_components; c++) {
        const mst_spec *row = &p->rows->row[c];
        const char *name = c == 0 ? (row->dtype == MST_U8 ? "image_raw" : "x") : row->dtype == MST_F32 ? "y" : "label";
        add_feature(p, name, row->dtype, p->value[c], mst_shape_count(row->shape));
    }
    const mst_shape *shape = &p->rows->row[0].shape;
    if (shape->ndim > 1) add_feature(p, "shape", MST_I64, shape->dim, shape->ndim);
    p->num_pixels = mst_shape_count(*shape);
    if (p->rows->row[0].dtype == MST_U8) add_feature(p, "pixels", MST_I64, &p->num_pixels, 1);
}

static mst_status write_row(part *p, mst_tfrecord_writer *writer) {
    set_features(p);
    const size_t size = mst_example_size(p->feature, p->num_features);
    if (size > p->capacity) {
        uint8_t *grown = realloc(p->example, 2 * size);
        if (!grown) return MST_NO_MEMORY("for an Example of %zu bytes", size);
        p->example = grown;
        p->capacity = 2 * size;
    }
    mst_example_encode(p->feature, p->num_features, p->example);
    return mst_tfrecord_writer_add(writer, p->example, size);
}

static mst_status write_rows(part *p, mst_iterator *it, int64_t count, mst_tfrecord_writer *writer) {
    for (int64_t done = 0; done < count; done++) {
        const mst_batch *batch;
        mst_long_work_step((uint64_t)done);
        MST_TRY(mst_iterator_next(it, &batch));
        if (!batch) return MST_FAIL(MST_INTERNAL, "tfrecord: rows are missing");
        MST_TRY(mst_batch_copy_all(batch, 0, 1, (void *const *)p->value));
        MST_TRY(write_row(p, writer));
    }
    return MST_OK;
}

static mst_status write_shard(part *p, mst_iterator *it, int64_t shard) {
    char path[PATH_SIZE];
    mst_tfrecord_writer *writer;
    const int64_t first = p->num_rows * shard / p->num_shards, end = p->num_rows * (shard + 1) / p->num_shards;
    const int size =
        snprintf(path, sizeof path, "%s-%s-%05d-of-%05d", p->prefix, p->name, (int)shard, (int)p->num_shards);
    if (size < 0 || size >= PATH_SIZE) return MST_FAIL(MST_INVALID, "data: the prefix is too long");
    MST_TRY(mst_tfrecord_writer_open(path, p->compression, &writer));
    mst_long_work_begin(MST_LONG_WORK_WRITING, path, "rows", (uint64_t)(end - first));
    mst_status status = write_rows(p, it, end - first, writer);
    mst_long_work_end();
    if (!status) status = mst_tfrecord_writer_commit(writer);
    mst_tfrecord_writer_close(writer);
    return status;
}

static mst_status write_shards(part *p) {
    mst_iterator *it;
    for (int c = 0; c < p->rows->num_components; c++) {
        MST_TRY(check_dtype(p, c));
        p->value[c] = malloc(mst_dataset_row_bytes(p->rows, c) + 1);
        if (!p->value[c]) return MST_NO_MEMORY("for a row");
    }
    MST_TRY(mst_iterator_create(p->rows, 0, &it));
    mst_status status = MST_OK;
    for (int64_t shard = 0; shard < p->num_shards && !status; shard++) status = write_shard(p, it, shard);
    mst_iterator_destroy(it);
    return status;
}

/* Makes a dataset whose number of rows is known, with i64 labels if they are integers. */
static mst_status write_tfrecord_prepare(mst_dataset *dataset, mst_dataset **out) {
    mst_dataset *counted;
    if (dataset->cardinality < 0)
        MST_TRY(mst_dataset_cache(dataset, &counted));
    else
        counted = mst_dataset_retain(dataset);
    const bool integers = counted->num_components > 1 && mst_convert_find(counted->row[1].dtype, MST_I64);
    mst_status status = MST_OK;
    *out = counted;
    if (!integers) return MST_OK;
    status = mst_dataset_scale(counted, 1, MST_I64, 1, out);
    mst_dataset_release(counted);
    return status;
}

static mst_status write_part(const char *prefix, const char *name, mst_dataset *dataset,
                             const mst_write_options *options) {
    part p = {.prefix = prefix, .name = name, .compression = options->compression};
    MST_TRY(write_tfrecord_prepare(dataset, &p.rows));
    p.num_rows = p.rows->cardinality;
    p.num_shards = options->num_shards ? options->num_shards : 1;
    mst_status status = write_shards(&p);
    mst_dataset_release(p.rows);
    free(p.value[0]);
    free(p.value[1]);
    free(p.example);
    return status;
}

static mst_status write_parts(const char *prefix, mst_dataset *train, mst_dataset *test,
                              const mst_write_options *options) {
    if (options->num_shards > MOST_SHARDS)
        return MST_FAIL(MST_INVALID, "data: %lld shards, at most %d are possible", (long long)options->num_shards,
                        MOST_SHARDS);
    MST_TRY(write_part(prefix, "train", train, options));
    if (test) MST_TRY(write_part(prefix, "test", test, options));
    /* These come last: if records could not be written, the files beside the old records stay. */
    MST_TRY(mst_class_names_write(prefix, train));
    return mst_schema_file_write(prefix, train);
}

static const char *const tfrecord_files[] = {"-train-*-of-*", "-test-*-of-*", "-labels.txt", "-schema.json", NULL};

const mst_data_writer mst_data_writer_tfrecord = {
    .name = "tfrecord:", .form = "tfrecord:PREFIX", .files = tfrecord_files, .has_shards = true, .write = write_parts};
