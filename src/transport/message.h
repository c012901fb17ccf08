/** The header that stands before each message, or part of a message, on the wire: 64 bytes, little-endian.
 *
 *       0  magic       "MSTR"
 *       4  version     u16
 *       6  kind        u16
 *       8  from        i32   number of the sending task; -1: it is none
 *      12  to          i32   number of the task that it is meant for; -1: whatever listens there
 *      16  instance    u64   of the sender
 *      24  generation  u32   of data: its key; else 0
 *      28  stream      u32
 *      32  run         u64
 *      40  hash        u64
 *      48  total       u64   bytes of the whole message
 *      56  offset      u64   of the bytes that follow in the whole message
 */
#ifndef MUSTER_TRANSPORT_MESSAGE_H
#define MUSTER_TRANSPORT_MESSAGE_H

#include "transport/transport.h"

enum { MST_MESSAGE_HEADER = 64, MST_MESSAGE_VERSION = 3 };

typedef enum mst_message_kind {
    MST_MESSAGE_HELLO =
        1, /**< the first on a connection, from the task that made it. Text: its address in its list; then, on
                            *   a second line, its lists (mst_transport_options.lists), if it has any */
    MST_MESSAGE_WELCOME, /**< the answer: what is sent from now on is taken */
    MST_MESSAGE_REFUSE, /**< the answer to what cannot be taken, with the reason as text: the connection is of no use */
    MST_MESSAGE_ALIVE,  /**< a sign of life; text: what the sender does (mst_transport_report.doing), or empty */
    MST_MESSAGE_BYE,    /**< nothing follows; answered by the same */
    MST_MESSAGE_CONTROL,
    MST_MESSAGE_DATA,      /**< a part of a message, as long as it likes but never empty where the message is not */
    MST_MESSAGE_TAKEN,     /**< as REFUSE, for good: a process that is alive has the number. Text: its host */
    MST_MESSAGE_ASK,       /**< the only one on its connection, from a program that is not a task; empty */
    MST_MESSAGE_REPORT,    /**< the answer */
    MST_MESSAGE_MISFIT,    /**< as REFUSE, for good: the lists of tasks of the two differ, or one cannot connect back */
    MST_MESSAGE_CHALLENGE, /**< the answer to HELLO and ASK from a sender with a login (token_proof.h): a nonce, then
                              the listener's proof. The sender sends the message again, after a proof of its own */
    MST_MESSAGE_KINDS
} mst_message_kind;

typedef struct mst_message {
    mst_message_kind kind;
    int32_t from, to;
    uint64_t instance;
    mst_key key;
    uint64_t total, offset;
} mst_message;

void mst_message_encode(const mst_message *message, unsigned char header[MST_MESSAGE_HEADER]);
/** Reads the header of SIZE bytes at DATA, behind which PAYLOAD bytes follow. Returns NULL, or in half a sentence why
 *  this is no message that this version can read. Its tasks and its instance are not checked. */
MST_CHECKED const char *mst_message_decode(const void *data, size_t size, size_t payload, mst_message *out);

#endif
