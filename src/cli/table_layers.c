#include "cli/table_layers.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "muster/ops.h"

/* ---- what the columns are ---- */

/* Whether the columns of a schema but the last are those of DATA's inputs. */
static bool is_table(const mst_dataset *data, size_t columns) {
    const mst_spec inputs = mst_dataset_spec(data, 0);
    return columns > 1 && inputs.dtype == MST_F32 && inputs.shape.ndim == 1 &&
           inputs.shape.dim[0] == (int64_t)columns - 1;
}

/* The size of the rows of an embedding of so many categories: fastai's emb_sz_rule. */
static int64_t embedding_size(int64_t categories) {
    const double size = round(1.6 * pow((double)categories, 0.56));
    return size < 600 ? (int64_t)size : 600;
}

static mst_status list_columns(const json_t *columns, int64_t embed_above, table_layers *out) {
    out->num_columns = (int64_t)json_array_size(columns) - 1;
    out->number = calloc((size_t)out->num_columns, sizeof *out->number);
    out->category = calloc((size_t)out->num_columns, sizeof *out->category);
    out->part = calloc((size_t)out->num_columns, sizeof *out->part);
    if (!out->number || !out->category || !out->part) return MST_NO_MEMORY("for the columns of a table");
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
    json_t *schema = text ? json_loads(text, 0, &error) : NULL; /* muster/dataset.h says what is in it */
    const json_t *columns = json_object_get(schema, "columns");
    const mst_status status =
        is_table(data, json_array_size(columns)) ? list_columns(columns, embed_above, out) : MST_OK;
    json_decref(schema);
    return status;
}

void table_layers_free(table_layers *table) {
    free(table->number);
    free(table->category);
    free(table->part);
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

/* [n, num_numbers] of x [n, columns] */
static mst_value pick_numbers(void *context, mst_value x, bool training) {
    const table_layers *table = context;
    (void)training;
    return mst_gather(x, mst_values(mst_value_graph(x), MST_I64, MST_SHAPE(table->num_numbers), table->number), 1);
}

/* [n, features] of x [n, columns]; PLACE is the number of the category among those that are embedded. */
static mst_value encode_category(const table_category *category, mst_value x, int64_t place) {
    char name[32];
    mst_value index = mst_cast(mst_slice(x, MST_SHAPE(0, category->column), MST_SHAPE(-1, 1)), MST_I32);
    if (!category->size) return mst_category_encoding(index, category->count, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
    snprintf(name, sizeof name, place ? "embedding_%lld" : "embedding", (long long)place);
    index = mst_squeeze(mst_add(index, mst_scalar(mst_value_graph(x), MST_I32, 1)), .axes = MST_AXES(1));
    return mst_embedding(index, category->count + 1, category->size, .name = name);
}

static mst_value encode_categories(void *context, mst_value x, bool training) {
    table_layers *table = context;
    int64_t embedded = 0;
    (void)training;
    for (int64_t i = 0; i < table->num_categories; i++) {
        table->part[i] = encode_category(&table->category[i], x, embedded);
        embedded += table->category[i].size > 0;
    }
    return table->num_categories == 1 ? table->part[0] : mst_concat(table->part, (int)table->num_categories, 1);
}

void table_layers_add(table_layers *table, mst_model *model) {
    if (!table->num_columns) return;
    const mst_output x = mst_input(model, MST_SHAPE(table->num_columns), .name = "columns");
    mst_output numbers = x, categories = x;
    if (table->num_numbers > 0) {
        if (table->num_categories > 0) numbers = mst_lambda(x, pick_numbers, .context = table, .name = "numbers");
        numbers = mst_normalization(numbers, .fill_missing = table->fill_missing, .keep_constant = true);
        table->normalization = numbers;
    }
    if (table->num_categories > 0)
        categories = mst_lambda(x, encode_categories, .context = table, .name = "categories");
    if (table->num_numbers > 0 && table->num_categories > 0) mst_concatenate(MST_OUTPUTS(numbers, categories));
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
