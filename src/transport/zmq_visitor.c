#include "transport/zmq_visitor.h"

#include <stdlib.h>
#include <string.h>

static const int64_t STAYS = 5000000000; /* nanoseconds: how long a visitor that does not leave keeps its place */

static void refuse_visitor(mst_transport *t, const unsigned char *id, const char *why) {
    const mst_wire_header header = {
        .kind = MST_WIRE_REFUSE, .from = t->options.self, .to = -1, .instance = t->options.instance};
    mst_zmq_send_text((mst_zmq_route){t->router, id}, header, why);
}

static void send_report(mst_transport *t, const unsigned char *id) {
    const mst_transport_report *report = &t->options.report;
    const mst_wire_header header = {
        .kind = MST_WIRE_REPORT, .from = t->options.self, .to = -1, .instance = t->options.instance};
    size_t bytes = 0;
    void *data = report->make ? report->make(report->context, &bytes) : NULL;
    if (data)
        mst_zmq_send_bytes((mst_zmq_route){t->router, id}, header, data, bytes);
    else
        refuse_visitor(t, id, report->make ? "it has no memory left" : "it says nothing of itself");
    free(data);
}

/* Returns a free place; NULL: all places are taken. */
static mst_zmq_visitor *free_place(mst_transport *t, int64_t now) {
    for (int i = 0; i < MST_ZMQ_VISITORS; i++)
        if (!t->visitor[i].came || now - t->visitor[i].came > STAYS) return &t->visitor[i];
    return NULL;
}

void mst_zmq_visitor_answer(mst_transport *t, const unsigned char *id, mst_zmq_connection connection, int64_t now) {
    for (int i = 0; i < MST_ZMQ_VISITORS; i++)
        if (t->visitor[i].came && memcmp(t->visitor[i].id, id, MST_ZMQ_ID) == 0) return; /* it asks again */
    mst_zmq_visitor *place = free_place(t, now);
    if (!place) {
        refuse_visitor(t, id, "others ask it already, as many as may at once");
        return;
    }
    place->came = now;
    place->connection = connection;
    memcpy(place->id, id, MST_ZMQ_ID);
    send_report(t, id);
}

void mst_zmq_visitor_left(mst_transport *t, uint64_t number) {
    for (int i = 0; i < MST_ZMQ_VISITORS; i++)
        if (t->visitor[i].connection.number == number) t->visitor[i].came = 0;
}
