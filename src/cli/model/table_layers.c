#include "cli/model/table_layers.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "muster/layers.h"

/* ---- what the columns are ---- */

/* The number of columns that are inputs: those of the schema without the labels at its end. */
static int64_t num_inputs(const json_t *schema) {
    const json_t *labels = json_object_get(schema, "labels");
    return (int64_t)json_array_size(json_object_get(schema, "columns")) - (labels ? json_integer_value(labels) : 1);
}

/* Whether DATA's inputs are COLUMNS columns of a table. */
static bool is_table(const mst_dataset *data, int64_t columns) {
    const mst_spec inputs = mst_dataset_spec(data, 0);
    return columns > 0 && inputs.dtype == MST_F32 && inputs.shape.ndim == 1 && inputs.shape.dim[0] == columns;
}

/* The size of the rows of an embedding for this number of categories: fastai's emb_sz_rule. */
static int64_t embedding_size(int64_t categories) {
    const double size = round(1.6 * pow((double)categories, 0.56));
    return size < 600 ? (int64_t)size : 600;
}

static mst_status list_columns(const json_t *schema, int64_t embed_above, table_layers *out) {
    const json_t *columns = json_object_get(schema, "columns");
    out->num_columns = num_inputs(schema);
    out->number = calloc((size_t)out->num_columns, sizeof *out->number);
    out->category = calloc((size_t)out->num_columns, sizeof *out->category);
    if (!out->number || !out->category) return MST_NO_MEMORY("for the columns of a table");
    for (int64_t i = 0; i < out->num_columns; i++) {
        const json_t *column = json_array_get(columns, (size_t)i);
        const int64_t count = (int64_t)json_array_size(json_object_get(column, "categories"));
        const bool embedded = embed_above && count > embed_above;
        if (!count)
            out->number[out->num_numbers++] = (double)i;
        else
            out->category[out->num_categories++] =
                (table_category){.column = i, .count = count, .size = embedded ? embedding_size(count) : 0};
    }
    return MST_OK;
}

mst_status table_layers_find(const mst_dataset *data, const char *text, int64_t embed_above, table_layers *out) {
    json_error_t error;
    *out = (table_layers){.num_columns = 0};
    json_t *schema = text ? mst_json_read_string(text, &error) : NULL; /* muster/dataset.h explains its members */
    const mst_status status = is_table(data, num_inputs(schema)) ? list_columns(schema, embed_above, out) : MST_OK;
    json_decref(schema);
    return status;
}

void table_layers_free(table_layers *table) {
    free(table->number);
    free(table->category);
    *table = (table_layers){.num_columns = 0};
}

int64_t table_layers_count(const table_layers *table, bool embedded, int64_t *features) {
    int64_t count = 0;
    *features = 0;
    for (int64_t i = 0; i < table->num_categories; i++) {
        const table_category *category = &table->category[i];
        if ((category->size > 0) != embedded) continue;
        *features += embedded ? category->size : category->count;
        count++;
    }
    return count;
}

int64_t table_layers_features(const table_layers *table) {
    int64_t one_hot, embedded;
    (void)table_layers_count(table, false, &one_hot);
    (void)table_layers_count(table, true, &embedded);
    return table->num_numbers + one_hot + embedded;
}

/* ---- layers ---- */

/* Takes the columns with the indices COLUMNS from X [n, columns]: [n, COUNT]. If COUNT is 0, takes one column: [n]. */
static mst_status take_columns(mst_output x, const double *columns, int64_t count, const char *name, mst_output *out) {
    mst_tensor *indices;
    MST_TRY(mst_tensor_create(MST_I64, count ? MST_SHAPE(count) : MST_SCALAR, &indices));
    for (int64_t i = 0; i < mst_tensor_count(indices); i++) mst_tensor_set(indices, i, columns[i]);
    *out = mst_take(x, indices, .axis = 1, .name = name);
    mst_tensor_release(indices);
    return MST_OK;
}

/* Adds the layers of one column of categories of X: [n, features]. */
static mst_status add_category(const table_category *category, mst_output x, mst_output *out) {
    const double column = (double)category->column;
    mst_output index;
    MST_TRY(take_columns(x, &column, category->size ? 0 : 1, NULL, &index));
    if (category->size)
        *out = mst_embedding(mst_rescaling(index, .offset = 1), category->count + 1, category->size);
    else
        *out = mst_category_encoding(index, category->count, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
    return MST_OK;
}

/* Concatenates COUNT PARTS. One layer takes only a limited number of them, so there may be several layers. */
static mst_output join_parts(mst_output *parts, int64_t count) {
    while (count > 1) {
        int64_t joined = 0;
        for (int64_t i = 0; i < count;) {
            mst_outputs some = {0};
            while (i < count && some.count < MST_MAX_OUTPUTS) some.output[some.count++] = parts[i++];
            parts[joined++] = some.count > 1 ? mst_concatenate(some) : some.output[0];
        }
        count = joined;
    }
    return parts[0];
}

mst_status table_layers_add(table_layers *table, mst_model *model) {
    int64_t count = 0;
    if (!table->num_columns) return MST_OK;
    mst_output *part = calloc((size_t)table->num_categories + 1, sizeof *part);
    if (!part) return MST_NO_MEMORY("for the columns of a table");
    const mst_output x = mst_input(model, MST_SHAPE(table->num_columns), .name = "columns");
    mst_status status = MST_OK;
    if (table->num_numbers > 0) {
        part[0] = x;
        if (table->num_categories > 0) status = take_columns(x, table->number, table->num_numbers, "numbers", part);
        part[0] = mst_normalization(part[0], .fill_missing = table->fill_missing, .keep_constant = true);
        table->normalization = part[count++];
    }
    for (int64_t i = 0; i < table->num_categories && !status; i++)
        status = add_category(&table->category[i], x, &part[count++]);
    if (!status) (void)join_parts(part, count);
    free(part);
    return status;
}

/* ---- what they learn ---- */

static mst_status pick_row(const mst_array *in, mst_array *out, void *context) {
    const table_layers *table = context;
    const float *row = in[0].data;
    float *numbers = out[0].data;
    for (int64_t i = 0; i < table->num_numbers; i++) numbers[i] = row[(int64_t)table->number[i]];
    return MST_OK;
}

mst_status table_layers_adapt(table_layers *table, mst_dataset *data) {
    mst_dataset *numbers;
    if (!table->num_columns || !table->num_numbers) return MST_OK;
    const mst_spec row = {MST_F32, MST_SHAPE(table->num_numbers)};
    MST_TRY(mst_dataset_map(data, pick_row, table, &row, 1, &numbers));
    const mst_status status = mst_adapt(table->normalization, numbers, 0);
    mst_dataset_release(numbers);
    return status;
}
