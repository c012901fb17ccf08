#include "parameter_server/message_body.h"

#include <string.h>

const void *mst_message_body_take(mst_message_body_rest *rest, size_t bytes) {
    const char *at = rest->at;
    const size_t all = mst_message_body_aligned(bytes);
    if (all < bytes || all > rest->bytes) return NULL;
    rest->at += all;
    rest->bytes -= all;
    return at;
}

static bool take_all(mst_message_body_rest *rest, mst_tensor *value) {
    const void *from = mst_message_body_take(rest, mst_tensor_bytes(value));
    if (from) memcpy(mst_tensor_data(value), from, mst_tensor_bytes(value));
    return from != NULL;
}

/* Reads COUNT rows, which come after their numbers. */
static bool take_rows(mst_message_body_rest *rest, int64_t count, mst_tensor *value) {
    const int64_t num_rows = mst_tensor_shape(value).dim[0];
    const size_t row = mst_tensor_bytes(value) / (size_t)num_rows;
    if (count > num_rows) return false;
    const int64_t *number = mst_message_body_take(rest, (size_t)count * sizeof *number);
    const char *rows = number ? mst_message_body_take(rest, (size_t)count * row) : NULL;
    for (int64_t i = 0; i < count && rows; i++) {
        if (number[i] < 0 || number[i] >= num_rows) return false;
        memcpy((char *)mst_tensor_data(value) + (size_t)number[i] * row, rows + (size_t)i * row, row);
    }
    return rows != NULL;
}

bool mst_message_body_take_value(mst_message_body_rest *rest, bool sparse, mst_tensor *value) {
    const int64_t *count = sparse ? mst_message_body_take(rest, sizeof *count) : NULL;
    if (sparse && !count) return false;
    return count && *count >= 0 ? take_rows(rest, *count, value) : take_all(rest, value);
}
