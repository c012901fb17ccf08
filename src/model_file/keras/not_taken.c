#include "model_file/keras/not_taken.h"

#include <stdlib.h>

mst_status mst_keras_not_taken(const char *key, const json_t *value) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const mst_status status = MST_FAIL(MST_UNIMPLEMENTED, "%s = %.100s is not taken here", key, text ? text : "");
    free(text);
    return status;
}
