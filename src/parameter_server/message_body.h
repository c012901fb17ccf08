/** The layout of messages with gradients (MST_PS_GRADIENTS) or values (MST_PS_VALUES), after their heads.
 *
 *  Gradients: for each leaf of the worker (a part of its batch whose gradients are sent as one sum), and for each
 *  variable of the server, in the order of the server's graph
 *
 *      dense     all elements
 *      sparse    i64: number of rows; i64 for each row: its number, ascending; the rows
 *
 *  and then zeros up to the next multiple of 8 bytes.
 *
 *  Values: the same layout with one leaf. A variable with sparse gradients is sent as the rows that have changed since
 *  the values that the worker has; or as -1 in place of the number of rows, and then all elements. */
#ifndef MUSTER_PARAMETER_SERVER_MESSAGE_BODY_H
#define MUSTER_PARAMETER_SERVER_MESSAGE_BODY_H

#include "muster/tensor.h"

enum { MST_MESSAGE_BODY_ALIGN = 8 };
static inline size_t mst_message_body_aligned(size_t bytes) {
    return (bytes + MST_MESSAGE_BODY_ALIGN - 1) / MST_MESSAGE_BODY_ALIGN * MST_MESSAGE_BODY_ALIGN;
}

/** The part of a body that has not been read. */
typedef struct mst_message_body_rest {
    const char *at;
    size_t bytes;
} mst_message_body_rest;

/** Takes the next BYTES and the zeros after them; NULL if fewer are left. */
const void *mst_message_body_take(mst_message_body_rest *rest, size_t bytes);
/** Reads the next variable into VALUE, or only its changed rows. False if the bytes do not fit VALUE's shape and dtype.
 *  SPARSE: the variable has sparse gradients, and at least one row. */
bool mst_message_body_take_value(mst_message_body_rest *rest, bool sparse, mst_tensor *value);

#endif
