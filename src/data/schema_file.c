#include "data/schema_file.h"

#include <stdlib.h>
#include <string.h>

#include "data/schema.h"
#include "data/sidecar.h"

static const char file_name[] = "schema.json";

mst_status mst_schema_file_write(const char *prefix, const mst_dataset *dataset) {
    const char *text = mst_dataset_schema(dataset);
    return mst_beside_write(prefix, file_name, text, text ? strlen(text) : 0);
}

static mst_status schema_file_check(const char *text) {
    mst_schema schema;
    const mst_status status = mst_schema_read(text, &schema);
    mst_schema_free(&schema);
    return status;
}

mst_status mst_schema_file_read(const char *prefix, mst_dataset *dataset, mst_dataset **out) {
    char *text;
    size_t size;
    MST_TRY(mst_beside_read(prefix, file_name, &text, &size));
    if (!text) {
        *out = mst_dataset_retain(dataset);
        return MST_OK;
    }
    if (!schema_file_check(text)) return mst_dataset_add_schema(dataset, text, out);
    free(text);
    return mst_error_prefix("'%s-%s'", prefix, file_name);
}
