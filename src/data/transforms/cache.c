/** Reads the rows of one pass over DATASET (epoch 0) now, and keeps them in memory. Like a dataset of
 *  mst_dataset_from_tensors, the result can be read in any order. Use it for slow parsing, and for compressed files
 *  whose rows fit into memory. Rows may have strings, and any length. If the elements of DATASET are batches, these are
 *  kept: each pass gives the same batches in the same order. MST_INVALID if DATASET has no end, or if a batch before
 *  the last has fewer rows than the others, as when batches are repeated. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_cache(mst_dataset *dataset, mst_dataset **out);
#endif
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/nested.h"
#include "data/schema.h"
#include "data/transforms/packed_row.h"
#include "data/transforms/unbatch.h"
#include "tensor/string.h"

/* The rows are made in batches, by several threads if that takes long. They are collected in one array per component,
 * which grows by doubling. The result is a dataset over these arrays (mst_dataset_from_tensors). Rows of unknown length
 * are first packed into one string each (data/transforms/packed_row.h). If DATASET has batches, they are split into
 * rows, which are cached and put back into batches of the same size (data/transforms/unbatch.h). */

enum { MOST_ROWS = 256, MOST_BYTES = 4 << 20 }; /* limits for one of these batches */

typedef struct column {
    char *data;
    mst_arena text; /* the bytes of strings */
} column;

typedef struct columns {
    const mst_dataset *dataset;
    int64_t rows, capacity;
    column **column; /* [num_components] */
    void **dst;      /* [num_components] where the next rows go */
    int64_t num_corrupt;
} columns;

static void free_column(void *context) {
    column *c = context;
    if (!c) return;
    free(c->data);
    mst_arena_free(&c->text);
    free(c);
}

static mst_status cache_grow(columns *c, int64_t more) {
    if (c->rows + more <= c->capacity) return MST_OK;
    int64_t capacity = 2 * c->capacity > c->rows + more ? 2 * c->capacity : c->rows + more;
    if (c->capacity == 0 && c->dataset->cardinality > capacity) capacity = c->dataset->cardinality;
    for (int i = 0; i < c->dataset->num_components; i++) {
        size_t bytes;
        char *data = NULL;
        if (!c->column[i]) c->column[i] = calloc(1, sizeof *c->column[i]);
        if (!c->column[i]) return MST_NO_MEMORY("for a dataset");
        if (!__builtin_mul_overflow((size_t)capacity, mst_dataset_row_bytes(c->dataset, i), &bytes))
            data = realloc(c->column[i]->data, bytes + 1);
        if (!data) return MST_NO_MEMORY("for %lld rows", (long long)capacity);
        c->column[i]->data = data;
    }
    c->capacity = capacity;
    return MST_OK;
}

/* Copies the bytes of the strings of the last N rows, which belong to the batch until now. */
static mst_status keep_strings(columns *c, int64_t n) {
    for (int i = 0; i < c->dataset->num_components; i++) {
        const int64_t each = c->dataset->row[i].dtype == MST_STRING ? mst_shape_count(c->dataset->row[i].shape) : 0;
        mst_string *string = (mst_string *)(void *)c->column[i]->data + (c->rows - n) * each;
        MST_TRY(mst_strings_keep(&c->column[i]->text, string, n * each));
    }
    return MST_OK;
}

static mst_status cache_add(columns *c, const mst_batch *batch) {
    const int64_t n = mst_batch_size(batch);
    if (n < 1) return MST_OK;
    MST_TRY(cache_grow(c, n));
    for (int i = 0; i < c->dataset->num_components; i++)
        c->dst[i] = c->column[i]->data + (size_t)c->rows * mst_dataset_row_bytes(c->dataset, i);
    MST_TRY(mst_batch_copy_all(batch, 0, n, c->dst));
    c->rows += n;
    return keep_strings(c, n);
}

/* Puts the rows of DATASET into batches. If rows take long to make, several threads make them. */
static mst_status in_batches(mst_dataset *dataset, mst_dataset **out) {
    mst_dataset *batches;
    size_t bytes = 1;
    for (int i = 0; i < dataset->num_components; i++) bytes += mst_dataset_row_bytes(dataset, i);
    const size_t fit = MOST_BYTES / bytes;
    MST_TRY(mst_dataset_batch(dataset, fit < 1 ? 1 : fit > MOST_ROWS ? MOST_ROWS : (int64_t)fit, false, out));
    if (!mst_dataset_makes_rows(dataset)) return MST_OK;
    batches = *out;
    const mst_status status = mst_dataset_prefetch(batches, 1, out);
    mst_dataset_release(batches);
    return status;
}

static mst_status cache_read_all(columns *c, mst_dataset *dataset) {
    mst_dataset *batches;
    mst_iterator *it = NULL;
    const mst_batch *batch = NULL;
    MST_TRY(in_batches(dataset, &batches));
    mst_status status = mst_iterator_create(batches, 0, &it);
    while (!status && !(status = mst_iterator_next(it, &batch)) && batch) status = cache_add(c, batch);
    if (!status) c->num_corrupt = mst_iterator_num_corrupt(it);
    mst_iterator_destroy(it);
    mst_dataset_release(batches);
    return status;
}

static mst_status cache_make(columns *c, mst_tensor **tensor, mst_dataset **out) {
    for (int i = 0; i < c->dataset->num_components; i++) {
        mst_shape shape = c->dataset->row[i].shape;
        memmove(shape.dim + 1, shape.dim, (size_t)shape.ndim * sizeof *shape.dim);
        shape.dim[0] = c->rows;
        shape.ndim++;
        column *own = c->column[i];
        MST_TRY(mst_tensor_wrap(c->dataset->row[i].dtype, shape, own->data, free_column, own, &tensor[i]));
        c->column[i] = NULL;
    }
    MST_TRY(mst_dataset_from_tensors(tensor, c->dataset->num_components, out));
    (*out)->num_corrupt = c->num_corrupt;
    return MST_OK;
}

static mst_status read_and_make(columns *c, mst_dataset *dataset, mst_tensor **tensor, mst_dataset **out) {
    MST_TRY(cache_read_all(c, dataset));
    if (!c->rows) return MST_FAIL(MST_INVALID, "cache: the dataset has no rows");
    return cache_make(c, tensor, out);
}

/* Caches rows whose lengths are known. */
static mst_status cache(mst_dataset *dataset, mst_dataset **out) {
    const size_t n = (size_t)dataset->num_components;
    columns c = {.dataset = dataset, .column = calloc(n, sizeof *c.column), .dst = calloc(n, sizeof *c.dst)};
    mst_tensor **tensor = calloc(n, sizeof *tensor);
    const bool enough = c.column && c.dst && tensor;
    const mst_status status = enough ? read_and_make(&c, dataset, tensor, out) : MST_NO_MEMORY("for a dataset");
    for (size_t i = 0; i < n; i++) {
        if (tensor) mst_tensor_release(tensor[i]);
        if (c.column) free_column(c.column[i]);
    }
    free(c.column);
    free(c.dst);
    free(tensor);
    return status;
}

/* Caches rows of unknown length: each is kept as one string. */
static mst_status cache_packed(mst_dataset *dataset, mst_dataset **out) {
    static const mst_dataset_type type = {.name = "cache", .keeps_rows = true};
    mst_dataset *packed, *rows = NULL;
    MST_TRY(mst_dataset_pack(dataset, &packed));
    mst_status status = cache(packed, &rows);
    mst_dataset_release(packed);
    if (!status) status = mst_dataset_unpack(&type, rows, dataset, out);
    mst_dataset_release(rows);
    return status;
}

/* ---- names of classes, and the schema ---- */

static void replace(mst_dataset **rows, mst_dataset *named) {
    mst_dataset_release(*rows);
    *rows = named;
}

/* Gives *ROWS the names of classes and the schema of FROM. */
static mst_status copy_names(const mst_dataset *from, mst_dataset **rows) {
    const char *schema = mst_dataset_schema(from);
    mst_dataset *named = NULL;
    for (int i = 0; i < from->num_components; i++) {
        int64_t n;
        const char *const *names = mst_dataset_classes(from, i, &n);
        if (!names) continue;
        MST_TRY(mst_dataset_name_classes(*rows, i, names, n, &named));
        replace(rows, named);
    }
    if (!schema) return MST_OK;
    char *text = strdup(schema);
    if (!text) return MST_NO_MEMORY("for a schema");
    MST_TRY(mst_dataset_add_schema(*rows, text, &named));
    replace(rows, named);
    return MST_OK;
}

/* ---- */

static mst_status cache_any(mst_dataset *dataset, mst_dataset **out) {
    for (int i = 0; i < dataset->num_components; i++)
        if (mst_shape_count(dataset->row[i].shape) < 0) return cache_packed(dataset, out);
    return cache(dataset, out);
}

static mst_status cache_batches(mst_dataset *dataset, mst_dataset **out) {
    mst_dataset *rows, *kept;
    MST_TRY(mst_dataset_unbatch(dataset, &rows));
    mst_status status = mst_dataset_cache(rows, &kept);
    mst_dataset_release(rows);
    MST_TRY(status);
    status = mst_dataset_rebatch(kept, dataset, out);
    mst_dataset_release(kept);
    return status;
}

mst_status mst_dataset_cache(mst_dataset *dataset, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    MST_TRY(mst_dataset_check(dataset));
    if (dataset->cardinality == MST_INFINITE)
        return MST_FAIL(MST_INVALID, "cache: the dataset has no end: put repeat behind cache");
    if (dataset->batch_size) return cache_batches(dataset, out);
    MST_TRY(cache_any(dataset, out));
    const mst_status status = copy_names(dataset, out);
    if (!status) return MST_OK;
    mst_dataset_release(*out);
    *out = NULL;
    return status;
}

mst_dataset *mst_data_cache(mst_dataset *dataset) {
    MST_DATASET_NEST(dataset, mst_dataset_cache(dataset, &out));
}
