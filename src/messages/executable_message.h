/** Messages by which the workers of a cluster share executables (run/executables.h), so that a text is compiled once
 *  in a job, and all have the same bits. They are control messages (transport/transport.h).
 *
 *      asks                                                       gives
 *      ASK key, offset 0, hash of what it has --------------->    it has it, or waits until it has
 *                                              <------- ASK_SOURCE if it has not, and does not compile that text itself
 *      SOURCE from the offset, a piece ----------------------->   (ASK_SOURCE again, until it has the whole)
 *                                              <------------ BYTES key, offset, size and hash of all, a piece
 *      ASK key, offset of the next piece --------------------->   and so on
 *
 *  In place of BYTES come FAILED, if it cannot be compiled, or NONE, if it cannot be had as bytes. BYTES without a
 *  piece says that it is there now, or that the hash in ASK is its hash. Who asks sends ASK again until there is an
 *  answer, since a message is lost with its connection. A message that was not expected, such as a piece with another
 *  offset, changes nothing.
 *
 *      "MSE", version 1   4 bytes
 *      kind               4
 *      key                32: of the executable
 *      hash               32: SHA-256 of all its bytes; zeros: not known
 *      offset             8: of the piece
 *      total              8: number of all bytes; of FAILED: the code
 *      piece              the rest; of FAILED: a message
 *
 *  Numbers are little-endian. A source is five numbers of 8 bytes, the sizes of text, options, plugin, kind and device
 *  type, and then these, each with a 0 after it. Its key is checked by whoever gets it. */
#ifndef MUSTER_MESSAGES_EXECUTABLE_MESSAGE_H
#define MUSTER_MESSAGES_EXECUTABLE_MESSAGE_H

#include "run/executables.h"

typedef enum mst_executable_message_kind {
    MST_EXECUTABLE_ASK = 1,
    MST_EXECUTABLE_ASK_HELD, /**< as ASK, but the answer is NONE if the other task does not have it */
    MST_EXECUTABLE_BYTES,
    MST_EXECUTABLE_FAILED,
    MST_EXECUTABLE_NONE,
    MST_EXECUTABLE_ASK_SOURCE,
    MST_EXECUTABLE_SOURCE,
    MST_EXECUTABLE_OFFER, /**< to who would give next: get it, so that it is not lost with the sender */
    MST_EXECUTABLE_MESSAGE_KINDS
} mst_executable_message_kind;

enum {
    MST_EXECUTABLE_HASH = 32,
    MST_EXECUTABLE_PIECE = 1 << 18, /**< bytes of the longest piece */
    MST_EXECUTABLE_MESSAGE_HEAD = 88
};

typedef struct mst_executable_message {
    mst_executable_message_kind kind;
    mst_executable_key key;
    unsigned char hash[MST_EXECUTABLE_HASH];
    uint64_t offset, total;
    const void *piece; /**< [bytes] */
    size_t bytes;      /**< at most MST_EXECUTABLE_PIECE */
} mst_executable_message;

/** Whether SIZE bytes that have come are a message of this kind, and not one between members. */
bool mst_executable_message_is(const void *data, size_t size);
/** Writes MESSAGE to DST, which has room for MST_EXECUTABLE_MESSAGE_HEAD + bytes. Returns the number of bytes. */
size_t mst_executable_message_encode(const mst_executable_message *message, void *dst);
/** Reads a message, whose piece is then a part of DATA. Of BYTES and SOURCE, the piece lies within the total, which is
 *  at least 1; whether it is too long is for the receiver to say. False if DATA is not a message. */
bool mst_executable_message_decode(const void *data, size_t size, mst_executable_message *out);

/** Encodes the source of ORDER. The caller frees *OUT with free(). MST_INVALID if it is too large to be sent. */
MST_CHECKED mst_status mst_executable_source_encode(const mst_executable_order *order, void **out, size_t *size);
/** Decodes a source. What ORDER then names is a part of DATA. MST_CORRUPT if DATA is not a source. */
MST_CHECKED mst_status mst_executable_source_decode(const void *data, size_t size, mst_executable_order *order);

#endif
