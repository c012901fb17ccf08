/** The header before each message, or part of a message, on the wire: 64 bytes, little-endian.
 *
 *       0  magic       "MSTR"
 *       4  version     u16
 *       6  kind        u16
 *       8  from        i32   number of the sending task; -1: the sender is not a task
 *      12  to          i32   number of the receiving task; -1: whichever task listens at the address
 *      16  instance    u64   of the sender
 *      24  generation  u32   of data messages: the key; otherwise 0
 *      28  stream      u32
 *      32  run         u64
 *      40  hash        u64
 *      48  total       u64   bytes of the whole message
 *      56  offset      u64   of the bytes after this header, within the whole message
 */
#ifndef MUSTER_TRANSPORT_WIRE_HEADER_H
#define MUSTER_TRANSPORT_WIRE_HEADER_H

#include "transport/transport.h"

enum { MST_WIRE_HEADER_SIZE = 64, MST_WIRE_VERSION = 3 };

typedef enum mst_wire_kind {
    /** The first message on a connection, from the task that made it. Text: its address in its list; then, on a second
     *  line, its lists (mst_transport_options.lists), if it has any. */
    MST_WIRE_HELLO = 1,
    MST_WIRE_WELCOME, /**< the answer to HELLO: messages are accepted from now on */
    MST_WIRE_REFUSE, /**< the answer to a message that is not accepted. Text: why. The receiver closes the connection */
    MST_WIRE_ALIVE,  /**< a sign of life. Text: what the sender is doing (mst_transport_report.doing), or empty */
    MST_WIRE_BYE,    /**< the last message of its sender; answered with BYE */
    MST_WIRE_CONTROL,
    MST_WIRE_DATA,          /**< a part of a message, of any length; empty only if the message is empty */
    MST_WIRE_TAKEN,         /**< a final REFUSE: another live process has this task number. Text: its host */
    MST_WIRE_ASK,           /**< the only message on its connection, from a program that is not a task; empty */
    MST_WIRE_REPORT,        /**< the answer to ASK */
    MST_WIRE_LIST_MISMATCH, /**< a final REFUSE: the two have different lists of tasks, or one cannot connect back */
    MST_WIRE_CHALLENGE,     /**< the answer to HELLO and ASK from a sender with a login (token_proof.h): a nonce, then
                              the listener's proof. The sender sends the message again, after a proof of its own */
    MST_WIRE_KINDS
} mst_wire_kind;

typedef struct mst_wire_header {
    mst_wire_kind kind;
    int32_t from, to;
    uint64_t instance;
    mst_key key;
    uint64_t total, offset;
} mst_wire_header;

void mst_wire_header_encode(const mst_wire_header *from, unsigned char header[MST_WIRE_HEADER_SIZE]);
/** Reads the header of SIZE bytes at DATA; PAYLOAD bytes follow it. Returns NULL, or, as half a sentence, why this
 *  version cannot read the message. Does not check the tasks and the instance. */
MST_CHECKED const char *mst_wire_header_decode(const void *data, size_t size, size_t payload, mst_wire_header *out);

#endif
