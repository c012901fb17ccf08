/** Bodies of the messages of sessions over several tasks: numbers, texts, tensors and errors, one after another.
 *
 *      number    8 bytes, little-endian
 *      text      its length, then its bytes, a 0, and zeros up to a multiple of 8
 *      bytes     as a text, but without that 0
 *      shape     the number of dimensions, then each dimension
 *      tensor    dtype, shape, then its elements as bytes; for strings, each element as bytes
 *      error     its code; if that is not MST_OK: whether it is derived, message, node and device
 *
 *  A writer records that there was no memory (`failed`), a reader that the body is damaged (`wrong`). The caller checks
 *  this once, at the end. Values are as in memory: all tasks of a cluster have the same type of processor. */
#ifndef MUSTER_SESSIONS_WIRE_BODY_H
#define MUSTER_SESSIONS_WIRE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "muster/op.h"

/** Zero-initialised, it is empty. */
typedef struct mst_wire_writer {
    char *data;
    size_t size, room;
    bool failed; /**< there was no memory */
} mst_wire_writer;

void mst_wire_put_number(mst_wire_writer *writer, uint64_t number);
void mst_wire_put_real(mst_wire_writer *writer, double number);
void mst_wire_put_bytes(mst_wire_writer *writer, const void *data, size_t bytes);
void mst_wire_put_text(mst_wire_writer *writer, const char *text);
void mst_wire_put_spec(mst_wire_writer *writer, const mst_spec *spec);
void mst_wire_put_tensor(mst_wire_writer *writer, const mst_tensor *tensor);
/** Writes a 1 and then TENSOR as mst_wire_put_tensor does; or, if TENSOR is NULL, a 0. */
void mst_wire_put_optional(mst_wire_writer *writer, const mst_tensor *tensor);
void mst_wire_put_failure(mst_wire_writer *writer, const mst_failure *failure);
/** Appends everything that MORE has. */
void mst_wire_append(mst_wire_writer *writer, const mst_wire_writer *more);
/** MST_OUT_OF_MEMORY if something could not be written. */
MST_CHECKED mst_status mst_wire_check_written(const mst_wire_writer *writer);
void mst_wire_free(mst_wire_writer *writer);

/** The part of a body that has not been read. */
typedef struct mst_wire_reader {
    const char *at;
    size_t left;
    bool wrong;     /**< something had the wrong form: everything read after it is 0, "" or NULL */
    bool no_memory; /**< there was no memory: everything read after that is 0, "" or NULL */
} mst_wire_reader;

uint64_t mst_wire_get_number(mst_wire_reader *reader);
/** Reads a number from LEAST to MOST. */
int64_t mst_wire_get_within(mst_wire_reader *reader, int64_t least, int64_t most);
/** Reads the number of elements that follow, each of at least EACH bytes. */
int32_t mst_wire_get_count(mst_wire_reader *reader, size_t each);
double mst_wire_get_real(mst_wire_reader *reader);
/** These return pointers into the body. */
const void *mst_wire_get_bytes(mst_wire_reader *reader, size_t *bytes);
const char *mst_wire_get_text(mst_wire_reader *reader);
mst_spec mst_wire_get_spec(mst_wire_reader *reader);
/** These return tensors that belong to the caller. */
mst_tensor *mst_wire_get_tensor(mst_wire_reader *reader);
mst_tensor *mst_wire_get_optional(mst_wire_reader *reader);
void mst_wire_get_failure(mst_wire_reader *reader, mst_failure *out);
/** MST_CORRUPT if something was wrong or is left: "what WHO has sent is damaged"; MST_OUT_OF_MEMORY. */
MST_CHECKED mst_status mst_wire_check_read(const mst_wire_reader *reader, const char *who);

#endif
