#include "transport/zmq_status_client.h"

#include <stdlib.h>
#include <string.h>

static const int64_t STAYS = 5000000000; /* nanoseconds: how long a status client that does not leave keeps its place */

static void refuse_client(mst_transport *t, const unsigned char *id, const char *why) {
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
        refuse_client(t, id, report->make ? "it has no memory left" : "it says nothing of itself");
    free(data);
}

/* Returns a free place; NULL: all places are taken. */
static mst_zmq_status_client *free_place(mst_transport *t, int64_t now) {
    for (int i = 0; i < MST_ZMQ_STATUS_CLIENTS; i++)
        if (!t->status_client[i].came || now - t->status_client[i].came > STAYS) return &t->status_client[i];
    return NULL;
}

void mst_zmq_status_client_answer(mst_transport *t, const unsigned char *id, mst_zmq_connection connection,
                                  int64_t now) {
    for (int i = 0; i < MST_ZMQ_STATUS_CLIENTS; i++) /* the client asks again, but each client gets one answer */
        if (t->status_client[i].came && memcmp(t->status_client[i].id, id, MST_ZMQ_ID) == 0) return;
    mst_zmq_status_client *place = free_place(t, now);
    if (!place) {
        refuse_client(t, id, "others ask it already, as many as may at once");
        return;
    }
    place->came = now;
    place->connection = connection;
    memcpy(place->id, id, MST_ZMQ_ID);
    send_report(t, id);
}

void mst_zmq_status_client_left(mst_transport *t, uint64_t number) {
    for (int i = 0; i < MST_ZMQ_STATUS_CLIENTS; i++)
        if (t->status_client[i].connection.number == number) t->status_client[i].came = 0;
}
