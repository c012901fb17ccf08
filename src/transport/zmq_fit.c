#include "transport/zmq_fit.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"

void mst_zmq_say_one_way(const mst_transport *t, const mst_zmq_peer *p, char why[MST_ZMQ_WHY]) {
    snprintf(
        why, MST_ZMQ_WHY,
        "task %d cannot connect to task %d at %.64s, which connects to it from %s: give all tasks the same list of "
        "hosts, and see whether that port is open to the other machines",
        t->options.self, p->task, t->options.address[p->task], p->host);
}

static const char *own_address(const mst_transport *t) {
    const char *own = t->options.address[t->options.self];
    return own ? own : "";
}

void mst_zmq_say_hello(const mst_transport *t, char text[MST_ZMQ_SAID]) {
    const char *lists = t->options.lists;
    snprintf(text, MST_ZMQ_SAID, "%.300s%s%.200s", own_address(t), *lists ? "\n" : "", lists);
}

void mst_zmq_read_hello(const unsigned char *data, size_t size, mst_zmq_said *out) {
    const size_t most = sizeof out->text - 1, bytes = size < most ? size : most;
    if (bytes) memcpy(out->text, data, bytes);
    out->text[bytes] = '\0';
    char *line = strchr(out->text, '\n');
    if (line) *line++ = '\0';
    if (line) mst_make_plain(line);
    out->address = out->text;
    out->lists = line ? line : "";
}

bool mst_zmq_has_other_lists(const mst_transport *t, const mst_zmq_said *said) {
    return *said->lists && *t->options.lists && strcmp(said->lists, t->options.lists) != 0;
}

bool mst_zmq_may_join(const mst_transport *t, const mst_wire_header *m, const mst_zmq_said *said,
                      char why[MST_ZMQ_WHY]) {
    const int32_t self = t->options.self;
    const char *address = t->options.address[self] ? t->options.address[self] : t->options.listen;
    if (mst_zmq_has_other_lists(t, said))
        snprintf(why, MST_ZMQ_WHY,
                 "the lists of tasks differ: that of %.64s has '%.80s', that of %.64s has '%.80s': give all tasks the "
                 "same TF_CONFIG, or the same --ps_hosts and --worker_hosts",
                 said->address, said->lists, address, t->options.lists);
    else if (m->to != self && m->from == self)
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

int32_t mst_zmq_find_listed(const mst_transport *t, const char *address) {
    for (int32_t i = 0; i < t->options.num_tasks; i++)
        if (t->options.address[i] && strcmp(t->options.address[i], address) == 0) return i;
    return -1;
}
