#include "transport/zmq_fit.h"

#include <stdio.h>
#include <string.h>

void mst_zmq_say_one_way(const mst_transport *t, const mst_zmq_peer *p, char why[MST_ZMQ_WHY]) {
    snprintf(
        why, MST_ZMQ_WHY,
        "task %d cannot connect to task %d at %.64s, which connects to it from %s: give all tasks the same list of "
        "hosts, and see whether that port is open to the other machines",
        t->options.self, p->task, t->options.address[p->task], p->host);
}

bool mst_zmq_may_join(const mst_transport *t, const mst_message *m, char why[MST_ZMQ_WHY]) {
    const int32_t self = t->options.self;
    const char *address = t->options.address[self] ? t->options.address[self] : t->options.listen;
    if (m->to != self && m->from == self)
        snprintf(
            why, MST_ZMQ_WHY,
            "two tasks have the number %d: what listens at %.64s has it too, and is not task %d: give each task its "
            "own index, and all the same list of hosts in the same order",
            self, address, m->to);
    else if (m->to != self)
        snprintf(
            why, MST_ZMQ_WHY,
            "what listens at %.64s is task %d, not task %d: give all tasks the same list of hosts in the same order",
            address, self, m->to);
    else if (m->from < 0 || m->from >= t->options.num_tasks || m->from == self)
        snprintf(why, MST_ZMQ_WHY, "task %d of %d tasks has no peer with the number %d", self, t->options.num_tasks,
                 m->from);
    else
        return true;
    return false;
}

bool mst_zmq_is_listed(const mst_transport *t, const unsigned char *text, size_t size) {
    for (int32_t i = 0; i < t->options.num_tasks; i++) {
        const char *address = t->options.address[i];
        if (address && strlen(address) == size && memcmp(address, text, size) == 0) return true;
    }
    return false;
}
