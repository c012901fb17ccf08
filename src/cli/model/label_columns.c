#include "cli/model/label_columns.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/no_memory.h"

/* Copies the names of the last N of COLUMNS. If one is not UTF-8, *OUT stays NULL. */
static mst_status copy_names(const json_t *columns, size_t n, class_names *out) {
    const size_t first = json_array_size(columns) - n;
    bool good = true;
    const char **name = malloc(n * sizeof *name);
    if (!name) return MST_NO_MEMORY("for the names of columns");
    for (size_t i = 0; i < n; i++) {
        name[i] = json_string_value(json_object_get(json_array_get(columns, first + i), "name"));
        good &= name[i] != NULL;
    }
    const mst_status status = good ? class_names_copy(name, (int64_t)n, out) : MST_OK;
    free(name);
    return status;
}

mst_status label_columns_of(const char *text, class_names *out) {
    json_error_t error;
    *out = NULL;
    json_t *schema = text ? mst_json_read_string(text, &error) : NULL; /* muster/dataset.h explains its members */
    const json_t *columns = json_object_get(schema, "columns");
    const json_int_t n = json_integer_value(json_object_get(schema, "labels"));
    const bool several = n > 1 && n <= (json_int_t)json_array_size(columns);
    const mst_status status = several ? copy_names(columns, (size_t)n, out) : MST_OK;
    json_decref(schema);
    return status;
}

void label_columns_name(char *const *columns, objective *o) {
    const char *const *names = (const char *const *)columns;
    if (!names || class_names_count(names) != o->outputs || o->row.ndim > 1) return;
    o->columns = names;
    if (!o->names && objective_has_classes(o)) o->names = names;
}
