/** Checks whether a task that connects belongs to the list of tasks of this one. If not, gives a text that says why. */
#ifndef MUSTER_TRANSPORT_ZMQ_FIT_H
#define MUSTER_TRANSPORT_ZMQ_FIT_H

#include "transport/zmq_peer.h"

enum {
    MST_ZMQ_WHY = 480, /**< size of a reason why something has ended or was refused, as text */
    MST_ZMQ_SAID = 512 /**< size of the text of a HELLO */
};

/** What a HELLO says of the task that sends it. */
typedef struct mst_zmq_said {
    char text[MST_ZMQ_SAID];
    const char *address, *lists; /**< they point into TEXT; "": not given */
} mst_zmq_said;

/** Writes the text of this task's HELLO. */
void mst_zmq_say_hello(const mst_transport *t, char text[MST_ZMQ_SAID]);
/** Reads a HELLO from SIZE bytes of DATA. */
void mst_zmq_read_hello(const unsigned char *data, size_t size, mst_zmq_said *out);

/** Whether the sender of SAID has other lists of tasks than this task. False if one of the two has not given its
 *  lists. */
bool mst_zmq_has_other_lists(const mst_transport *t, const mst_zmq_said *said);
/** Whether a task that sends HELLO may join; if not, WHY says why. */
bool mst_zmq_may_join(const mst_transport *t, const mst_wire_header *hello, const mst_zmq_said *said,
                      char why[MST_ZMQ_WHY]);
/** The number of the task at ADDRESS in the list of tasks; -1: none. */
int32_t mst_zmq_find_listed(const mst_transport *t, const char *address);
/** Writes to WHY, for both sides, that this task cannot connect to the peer, though the peer connects to it. */
void mst_zmq_say_one_way(const mst_transport *t, const mst_zmq_peer *peer, char why[MST_ZMQ_WHY]);

#endif
