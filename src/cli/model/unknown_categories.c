#include "cli/model/unknown_categories.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "cli/model/table_layers.h"

enum { BATCH_ROWS = 1000, SHOWN = 128 };

/* Sets KNOWN[i] if column i of TABLE's categories has a known category in some row of BATCH. *ALL becomes whether all
 * of KNOWN are set. */
static mst_status mark_known(const table_layers *table, const mst_batch *batch, bool *known, bool *all) {
    mst_tensor *inputs;
    MST_TRY(mst_batch_tensor(batch, 0, &inputs));
    *all = true;
    for (int64_t c = 0; c < table->num_categories; c++) {
        for (int64_t row = 0; row < mst_batch_size(batch) && !known[c]; row++)
            known[c] = mst_tensor_get(inputs, row * table->num_columns + table->category[c].column) >= 0;
        *all = *all && known[c];
    }
    mst_tensor_release(inputs);
    return MST_OK;
}

static mst_status find_known(mst_dataset *data, const table_layers *table, bool *known, bool *all) {
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    *all = false;
    MST_TRY(mst_dataset_batch(data, BATCH_ROWS, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &iterator);
    while (!status && !*all && !(status = mst_iterator_next(iterator, &batch)) && batch)
        status = mark_known(table, batch, known, all);
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    return status;
}

/* The JSON string as one line of text; "" if JSON is not a string, since the text was not UTF-8. */
static const char *show_text(const json_t *json, char text[SHOWN]) {
    const char *string = json_string_value(json);
    return string ? mst_escape_line(string, strlen(string), text, SHOWN) : "";
}

static void print_unknown(const table_layers *table, const bool *known, const char *schema) {
    json_error_t error;
    char name[SHOWN], category[SHOWN];
    json_t *json = mst_json_read_string(schema, &error);
    const json_t *columns = json_object_get(json, "columns");
    for (int64_t c = 0; c < table->num_categories; c++) {
        const json_t *column = json_array_get(columns, (size_t)table->category[c].column);
        const json_t *first = json_array_get(json_object_get(column, "categories"), 0);
        if (known[c]) continue;
        fprintf(stderr,
                "warning: column '%s' has no category of the training in any row, such as '%s': the model cannot use "
                "this column: check how its texts are written\n",
                show_text(json_object_get(column, "name"), name), show_text(first, category));
    }
    json_decref(json);
}

mst_status unknown_categories_warn(mst_dataset *data, const char *text) {
    table_layers table;
    bool all, *known = NULL;
    mst_status status = table_layers_find(data, text, 0, &table);
    if (!status && table.num_categories) {
        known = calloc((size_t)table.num_categories, sizeof *known);
        status = known ? find_known(data, &table, known, &all) : MST_NO_MEMORY("for the columns of a table");
        if (!status && !all) print_unknown(&table, known, text);
    }
    free(known);
    table_layers_free(&table);
    return status;
}
