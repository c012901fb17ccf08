#include "data/schema.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/no_memory.h"

static const char labels_key[] = "labels";

/* ---- writing ---- */

static json_t *write_text(const char *text) {
    json_t *string = json_string(text);
    if (string) return string;
    const size_t size = strlen(text);
    char *hex = malloc(2 * size + 1);
    /* the last turn has room only for the 0 that ends the text */
    for (size_t i = 0; hex && i <= size; i++) snprintf(hex + 2 * i, i < size ? 3 : 1, "%02x", (unsigned char)text[i]);
    json_t *object = hex ? json_pack("{s:s}", "hex", hex) : NULL;
    free(hex);
    return object;
}

typedef struct text_member {
    const char *name;
    size_t at;
} text_member;

/* Optional members of a column. */
static const text_member text_members[] = {{"decimal", offsetof(mst_schema_column, decimal)},
                                           {"thousands", offsetof(mst_schema_column, thousands)},
                                           {"sign", offsetof(mst_schema_column, sign)},
                                           {"part", offsetof(mst_schema_column, part)},
                                           {"first", offsetof(mst_schema_column, first)}};
enum { NUM_TEXT_MEMBERS = sizeof text_members / sizeof *text_members };

static json_t *write_column(const mst_schema_column *column) {
    json_t *object = json_object();
    int failed = json_object_set_new(object, "name", write_text(column->name));
    failed |= json_object_set_new(object, "type", json_string(column->type));
    if (column->category) {
        json_t *list = json_array();
        for (int64_t i = 0; i < column->num_categories; i++)
            failed |= json_array_append_new(list, write_text(column->category[i]));
        failed |= json_object_set_new(object, "categories", list);
    }
    for (int i = 0; i < NUM_TEXT_MEMBERS; i++) {
        const char *text = *(const char *const *)((const char *)column + text_members[i].at);
        if (text) failed |= json_object_set_new(object, text_members[i].name, json_string(text));
    }
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

mst_status mst_schema_write(const mst_schema_column *columns, int num_columns, int num_labels, char **out) {
    json_t *list = json_array();
    int failed = 0;
    for (int i = 0; i < num_columns; i++) failed |= json_array_append_new(list, write_column(&columns[i]));
    json_t *whole = json_pack("{s:o}", "columns", list);
    if (num_labels > 1) failed |= json_object_set_new(whole, labels_key, json_integer(num_labels));
    *out = failed ? NULL : json_dumps(whole, JSON_COMPACT);
    json_decref(whole);
    return *out ? MST_OK : MST_NO_MEMORY("for a schema");
}

/* ---- reading ---- */

static mst_status wrong(const char *what) {
    return MST_FAIL(MST_INVALID, "schema: %s: it must be the text of mst_dataset_schema", what);
}

static mst_status read_hex(mst_arena *arena, const char *hex, const char **out) {
    const size_t size = strlen(hex) / 2;
    char *text = mst_arena_alloc(arena, size + 1);
    if (!text) return MST_NO_MEMORY("for a schema");
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return wrong("a text is neither a string nor hexadecimal");
        text[i] = (char)byte;
    }
    text[size] = '\0';
    *out = text;
    return MST_OK;
}

static mst_status read_text(mst_arena *arena, const json_t *json, const char **out) {
    const char *hex = json_string_value(json_object_get(json, "hex"));
    if (hex) return read_hex(arena, hex, out);
    if (!json_is_string(json)) return wrong("a text is neither a string nor hexadecimal");
    *out = mst_arena_string(arena, json_string_value(json));
    return *out ? MST_OK : MST_NO_MEMORY("for a schema");
}

static mst_status read_column(mst_arena *arena, const json_t *json, mst_schema_column *out) {
    MST_TRY(read_text(arena, json_object_get(json, "name"), &out->name));
    MST_TRY(read_text(arena, json_object_get(json, "type"), &out->type));
    for (int i = 0; i < NUM_TEXT_MEMBERS; i++) {
        const json_t *member = json_object_get(json, text_members[i].name);
        if (member) MST_TRY(read_text(arena, member, (const char **)(void *)((char *)out + text_members[i].at)));
    }
    const json_t *list = json_object_get(json, "categories");
    if (!list) return MST_OK;
    if (!json_array_size(list)) return wrong("a column has no category");
    out->num_categories = (int64_t)json_array_size(list);
    out->category = mst_arena_alloc(arena, (size_t)out->num_categories * sizeof *out->category);
    if (!out->category) return MST_NO_MEMORY("for a schema");
    for (int64_t i = 0; i < out->num_categories; i++)
        MST_TRY(read_text(arena, json_array_get(list, (size_t)i), &out->category[i]));
    return MST_OK;
}

static mst_status read_columns(const json_t *json, mst_schema *out) {
    const json_t *columns = json_object_get(json, "columns");
    const size_t count = json_array_size(columns);
    if (!count || count > INT32_MAX) return wrong("it has no columns");
    out->column = mst_arena_alloc(&out->arena, count * sizeof *out->column);
    if (!out->column) return MST_NO_MEMORY("for a schema");
    memset(out->column, 0, count * sizeof *out->column);
    out->num_columns = (int)count;
    const json_t *labels = json_object_get(json, labels_key);
    out->num_labels = labels ? (int)json_integer_value(labels) : 1;
    if (labels && (json_integer_value(labels) < 2 || json_integer_value(labels) > (json_int_t)count))
        return wrong("it has another number of labels than of columns");
    for (size_t i = 0; i < count; i++) MST_TRY(read_column(&out->arena, json_array_get(columns, i), &out->column[i]));
    return MST_OK;
}

mst_status mst_schema_read(const char *text, mst_schema *out) {
    json_error_t error;
    json_t *json = mst_json_read_string(text, &error);
    *out = (mst_schema){.num_columns = 0};
    const mst_status status = json ? read_columns(json, out) : wrong("it is no JSON");
    json_decref(json);
    return status;
}

void mst_schema_free(mst_schema *schema) {
    mst_arena_free(&schema->arena);
    *schema = (mst_schema){.num_columns = 0};
}

/* ---- the dataset that has one ---- */

typedef struct with_schema {
    mst_dataset base;
    char *text;
} with_schema;

static void schema_destroy(mst_dataset *dataset) {
    free(((with_schema *)dataset)->text);
}

static const char *schema(const mst_dataset *dataset) {
    return ((const with_schema *)dataset)->text;
}

static const mst_dataset_type type = {
    .name = "schema", .destroy = schema_destroy, .schema = schema, .keeps_rows = true};

mst_status mst_dataset_add_schema(mst_dataset *dataset, char *text, mst_dataset **out) {
    with_schema *d;
    *out = NULL;
    const mst_status status = mst_dataset_derive(&type, sizeof *d, dataset, &d);
    if (status) {
        free(text);
        return status;
    }
    d->text = text;
    *out = &d->base;
    return MST_OK;
}
