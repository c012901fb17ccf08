/* clang -fsanitize=fuzzer,address,undefined: schemas, which are JSON. What is read is written, and that is read as the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "data/schema.h"
#include "memory.h"

static char *written(const mst_schema *schema) {
    char *text;
    if (mst_schema_write(schema->column, schema->num_columns, &text)) __builtin_trap();
    return text;
}

static void read_input(const uint8_t *data, size_t size) {
    mst_schema schema, again;
    char *text = strndup((const char *)data, size);
    if (mst_schema_read(text, &schema) == MST_OK) {
        char *once = written(&schema);
        if (mst_schema_read(once, &again)) __builtin_trap();
        char *twice = written(&again);
        if (strcmp(once, twice) != 0) __builtin_trap();
        mst_schema_free(&again);
        free(once);
        free(twice);
    }
    mst_schema_free(&schema);
    free(text);
}

FUZZ(read_input, 256, 256 << 10)
