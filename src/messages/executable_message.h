/** Messages by which the workers of a cluster share executables (run/executables.h). So the text of a program is
 *  compiled once in a job, and all workers use the same executable. They are control messages (transport/transport.h).
 *
 *      task that needs an executable                              task that gives it
 *      ASK key, offset 0, hash of its own copy --------------->   has the executable, or waits until it has
 *                                              <-------------- ASK_SOURCE if it must compile and lacks the text
 *      SOURCE from the offset, a piece ----------------------->   (ASK_SOURCE again, until it has the whole text)
 *                                              <-------------- BYTES key, offset, size and hash of all, a piece
 *      ASK key, offset of the next piece --------------------->   and so on
 *
 *  FAILED comes instead of BYTES if the text cannot be compiled, and NONE if the plugin cannot give the bytes. BYTES
 *  without a piece says that the executable is ready now, or that it has the hash in ASK. A message may be lost with
 *  its connection, so ASK is sent again until there is an answer. Unexpected messages, such as a piece with another
 *  offset, are ignored.
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
 *  type, and then these, each with a 0 after it. The receiver checks its key. */
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
    MST_EXECUTABLE_OFFER, /**< to the task that will give executables if the sender is lost: get this one now */
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

/** Whether SIZE bytes at DATA are one of these messages, and not one between members (membership/member_message.h). */
bool mst_executable_message_is(const void *data, size_t size);
/** Writes MESSAGE to DST, which has room for MST_EXECUTABLE_MESSAGE_HEAD + bytes. Returns the number of bytes. */
size_t mst_executable_message_encode(const mst_executable_message *message, void *dst);
/** Reads a message, whose piece is then a part of DATA. In BYTES and SOURCE, the piece lies within the total, which is
 *  at least 1; the receiver checks whether the total is too large. False if DATA is not a message. */
bool mst_executable_message_decode(const void *data, size_t size, mst_executable_message *out);

/** Encodes the source of ORDER. The caller frees *OUT with free(). MST_INVALID if it is too large to be sent. */
MST_CHECKED mst_status mst_executable_source_encode(const mst_executable_order *order, void **out, size_t *size);
/** Decodes a source into ORDER, whose pointers then point into DATA. MST_CORRUPT if DATA is not a source. */
MST_CHECKED mst_status mst_executable_source_decode(const void *data, size_t size, mst_executable_order *order);

#endif
