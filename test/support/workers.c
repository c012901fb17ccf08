#include "support/workers.h"

#include "support/members.h"

typedef struct worker {
    worker_body body;
    void *context;
} worker;

static const mst_transport_type *transport_type = &mst_transport_inproc;
static long long sent_bytes;

void workers_use(const mst_transport_type *type) {
    transport_type = type;
}

long long workers_sent_bytes(void) {
    return sent_bytes;
}

static void run(member *m) {
    const worker *w = m->context;
    w->body(w->context, m->self, m->all->window[m->self], m->group);
}

void workers_run(int n, const int *count, worker_body body, void *context) {
    members all;
    mst_shards window[WORKERS_MOST] = {{0}};
    worker w = {body, context};
    for (int i = 0; i < n; i++) window[i] = (mst_shards){i ? window[i - 1].first + window[i - 1].count : 0, count[i]};
    members_open_windows(&all, transport_type, n, window);
    for (int i = 0; i < n; i++) all.member[i].context = &w;
    members_run(&all, run);
    sent_bytes = 0;
    for (int i = 0; i < n; i++) sent_bytes += member_sent_bytes(&all, i);
    members_close(&all);
}
