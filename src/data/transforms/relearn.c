/** Learns anew from PARTS[0] alone what the numbers of data stand for. Other parts become the same numbers: parts of
 *  one mst_dataset_split, or data that was opened with their schema. OUT[i] gets the new part i.
 *
 *  - Texts of mst_dataset_vectorize_text with .keep_texts, without a schema, get the vocabulary of the texts in
 *    PARTS[0].
 *  - Inputs of a table lose the categories that no row of PARTS[0] has. In other parts these become -1.
 *  - Other data stays as it is.
 *
 *  So a fold of a cross validation learns nothing from the rows on which it is measured. Classes of labels stay as they
 *  are. Fails as reading the rows does. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_relearn(mst_dataset *const *parts, int n, mst_dataset **out);
#endif
#include "data/transforms/relearn.h"

#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/schema.h"

enum { ROWS_AT_ONCE = 1000 };

static void release_all(mst_dataset **list, int n) {
    for (int i = 0; i < n; i++) {
        mst_dataset_release(list[i]);
        list[i] = NULL;
    }
}

/* ---- texts ---- */

/* The texts of PART, with the same rows. *OUT is NULL if it has none. */
static mst_status texts_of(const mst_dataset *part, mst_dataset **out, const mst_text_options **o) {
    mst_dataset *texts = mst_vectorize_texts(mst_split_whole(part), o);
    *out = NULL;
    return texts ? mst_split_again(part, texts, out) : MST_OK;
}

static mst_status relearn_texts(mst_dataset *const *parts, int n, mst_dataset **out) {
    mst_text_options o;
    for (int i = 0; i < n; i++) {
        const mst_text_options *own;
        mst_dataset *texts;
        MST_TRY(texts_of(parts[i], &texts, &own));
        if (!texts) return MST_FAIL(MST_INVALID, "relearn: part %d has no texts, as part 0 has", i);
        if (i == 0) o = *own;
        const mst_status status = mst_dataset_vectorize_text(texts, &o, &out[i]);
        mst_dataset_release(texts);
        MST_TRY(status);
        o.schema = mst_dataset_schema(out[0]);
    }
    return MST_OK;
}

/* ---- tables ---- */

/* The categories of the inputs of a table: number NEW[first[c] + k] for number k of column c; -1: it is left out. */
typedef struct categories {
    mst_schema schema;
    int num_inputs;
    int64_t *first; /* [num_inputs + 1] */
    int64_t *new;   /* [first[num_inputs]]; while rows are read 1 for a category that was seen, else 0 */
} categories;

static void free_categories(categories *c) {
    mst_schema_free(&c->schema);
    free(c->first);
    free(c->new);
}

/* Reads the schema of PART. num_inputs is 0 if it is no table. */
static mst_status read_categories(const mst_dataset *part, categories *c) {
    const char *text = mst_dataset_schema(part);
    const mst_spec inputs = part->row[0];
    if (!text || inputs.dtype != MST_F32 || inputs.shape.ndim != 1) return MST_OK;
    MST_TRY(mst_schema_read(text, &c->schema));
    const int count = c->schema.num_columns - c->schema.num_labels;
    if (count < 1 || inputs.shape.dim[0] != count) return MST_OK;
    c->first = calloc((size_t)count + 1, sizeof *c->first);
    if (!c->first) return MST_NO_MEMORY("for the columns of a table");
    for (int i = 0; i < count; i++) c->first[i + 1] = c->first[i] + c->schema.column[i].num_categories;
    c->new = calloc((size_t)c->first[count] + 1, sizeof *c->new);
    if (!c->new) return MST_NO_MEMORY("for the categories of a table");
    c->num_inputs = count;
    return MST_OK;
}

/* Replaces the categories in the inputs of COUNT rows by their new numbers, or if SEES marks them. */
static void pass_rows(const categories *c, float *inputs, int64_t count, bool sees) {
    for (int64_t i = 0; i < count * c->num_inputs; i++) {
        const int64_t first = c->first[i % c->num_inputs], n = c->first[i % c->num_inputs + 1] - first;
        if (!n || !(inputs[i] >= 0 && inputs[i] < (float)n)) continue;
        int64_t *new = &c->new[first + (int64_t)inputs[i]];
        if (sees)
            *new = 1;
        else
            inputs[i] = (float)*new;
    }
}

/* Reads all rows of PART to TENSOR. */
static mst_status read_part(mst_dataset *part, mst_tensor **tensor) {
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    void **dst = malloc((size_t)part->num_components * sizeof *dst);
    if (!dst) return MST_NO_MEMORY("for the rows of a table");
    mst_status status = mst_dataset_batch(part, ROWS_AT_ONCE, false, &batches);
    if (!status) status = mst_iterator_create(batches, 0, &iterator);
    for (int64_t row = 0; !status && !(status = mst_iterator_next(iterator, &batch)) && batch;) {
        for (int i = 0; i < part->num_components; i++)
            dst[i] = (char *)mst_tensor_data(tensor[i]) + (size_t)row * mst_dataset_row_bytes(part, i);
        status = mst_batch_copy_all(batch, 0, mst_batch_size(batch), dst);
        row += mst_batch_size(batch);
    }
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    free(dst);
    return status;
}

static mst_status make_tensors(const mst_dataset *part, mst_tensor **tensor) {
    for (int i = 0; i < part->num_components; i++) {
        const mst_shape row = part->row[i].shape;
        mst_shape shape = {.ndim = row.ndim + 1, .dim = {part->cardinality}};
        for (int d = 0; d < row.ndim; d++) shape.dim[d + 1] = row.dim[d];
        MST_TRY(mst_tensor_create(part->row[i].dtype, shape, &tensor[i]));
    }
    return MST_OK;
}

/* Makes a part of TENSOR, with the names of classes of FROM and a schema of the categories that are left. */
static mst_status describe_categories(const categories *c, const mst_dataset *from, mst_tensor **tensor,
                                      mst_dataset **out) {
    mst_dataset *next;
    char *text;
    MST_TRY(mst_dataset_from_tensors(tensor, from->num_components, out));
    for (int i = 1; i < from->num_components; i++) {
        int64_t n = 0;
        const char *const *names = mst_dataset_classes(from, i, &n);
        if (!names) continue;
        MST_TRY(mst_dataset_name_classes(*out, i, names, n, &next));
        mst_dataset_release(*out);
        *out = next;
    }
    MST_TRY(mst_schema_write(c->schema.column, c->schema.num_columns, c->schema.num_labels, &text));
    MST_TRY(mst_dataset_add_schema(*out, text, &next));
    mst_dataset_release(*out);
    *out = next;
    return MST_OK;
}

/* Reads the rows of PART and marks their categories, or if OUT is not NULL makes a part with new numbers of them. */
static mst_status pass_part(categories *c, mst_dataset *part, mst_dataset **out) {
    mst_tensor **tensor = calloc((size_t)part->num_components, sizeof *tensor);
    if (!tensor) return MST_NO_MEMORY("for the rows of a table");
    mst_status status = make_tensors(part, tensor);
    if (!status) status = read_part(part, tensor);
    if (!status) pass_rows(c, mst_tensor_data(tensor[0]), part->cardinality, !out);
    if (!status && out) status = describe_categories(c, part, tensor, out);
    for (int i = 0; i < part->num_components; i++) mst_tensor_release(tensor[i]);
    free(tensor);
    return status;
}

/* Numbers the categories that were seen, and leaves the others out of the schema. Returns how many are left out. */
static int64_t renumber(categories *c) {
    int64_t left_out = 0;
    for (int i = 0; i < c->num_inputs; i++) {
        mst_schema_column *column = &c->schema.column[i];
        int64_t count = 0;
        for (int64_t k = 0; k < c->first[i + 1] - c->first[i]; k++) {
            int64_t *new = &c->new[c->first[i] + k];
            if (*new) column->category[count] = column->category[k];
            *new = *new ? count++ : -1;
        }
        left_out += column->num_categories - count;
        column->num_categories = count;
    }
    return left_out;
}

static mst_status check_alike(mst_dataset *const *parts, int n) {
    for (int i = 1; i < n; i++)
        if (parts[i]->row[0].dtype != parts[0]->row[0].dtype || parts[i]->cardinality < 0 ||
            !mst_shape_equal(parts[i]->row[0].shape, parts[0]->row[0].shape))
            return MST_FAIL(MST_INVALID, "relearn: the inputs of part %d are not like those of part 0", i);
    return MST_OK;
}

static mst_status relearn_table(mst_dataset *const *parts, int n, mst_dataset **out) {
    categories c = {.num_inputs = 0};
    mst_status status = read_categories(parts[0], &c);
    bool changes = !status && c.num_inputs && c.first[c.num_inputs] > 0 && parts[0]->cardinality >= 0;
    if (changes) status = check_alike(parts, n);
    if (!status && changes) status = pass_part(&c, parts[0], NULL);
    if (!status && changes) changes = renumber(&c) > 0;
    for (int i = 0; i < n && !status; i++)
        if (changes)
            status = pass_part(&c, parts[i], &out[i]);
        else
            out[i] = mst_dataset_retain(parts[i]);
    free_categories(&c);
    return status;
}

mst_status mst_dataset_relearn(mst_dataset *const *parts, int n, mst_dataset **out) {
    const mst_text_options *o = NULL;
    if (MST_IS_NULL(parts) || MST_IS_NULL(out)) return MST_INVALID;
    for (int i = 0; i < n; i++) {
        out[i] = NULL;
        if (MST_IS_NULL(parts[i])) return MST_INVALID;
        MST_TRY(mst_dataset_want_rows(parts[i], "relearn"));
    }
    if (n < 1) return MST_OK;
    const bool has_texts = mst_vectorize_texts(mst_split_whole(parts[0]), &o) != NULL;
    const mst_status status = has_texts ? relearn_texts(parts, n, out) : relearn_table(parts, n, out);
    if (status) release_all(out, n);
    return status;
}
