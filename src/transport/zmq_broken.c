#include "transport/zmq_broken.h"

#include <zmq.h>

#include "transport/zmq_newcomer.h"
#include "transport/zmq_socket.h"

void mst_zmq_broken_look(mst_transport *t) {
    int value;
    uint16_t event;
    while (t->num_broken < MST_ZMQ_BROKEN && mst_zmq_monitor_take(t->monitor, &event, &value)) {
        if (event == ZMQ_EVENT_ACCEPTED) {
            mst_zmq_newcomer_came(t, value);
        } else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
            mst_zmq_newcomer_let_in(t);
        } else if (event != ZMQ_EVENT_DISCONNECTED) {
            t->handshake_end = event;
            t->handshake_error = value;
        } else {
            t->broken[t->num_broken++] = (mst_zmq_broken){value, t->handshake_end, t->handshake_error};
            t->handshake_end = 0;
        }
    }
}
