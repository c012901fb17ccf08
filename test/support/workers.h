/** Tasks that are threads of the test: each has a transport and is a member of one group. */
#ifndef MUSTER_TEST_SUPPORT_WORKERS_H
#define MUSTER_TEST_SUPPORT_WORKERS_H

#include "collective/group.h"

enum { WORKERS_MOST = 40 };

/** What a task does. NUMBER: its own; WINDOW: its shards. GROUP is in its first generation. */
typedef void (*worker_body)(void *context, int number, mst_shards window, mst_task_group *group);

/** From now on tasks have this transport; first it is `inproc`. */
void workers_use(const mst_transport_type *type);
/** Runs BODY in a thread for each of N tasks, whose windows have COUNT[i] shards each, and ends them all. */
void workers_run(int n, const int *count, worker_body body, void *context);
/** Bytes of data that all tasks of the last call have sent. */
long long workers_sent_bytes(void);

#endif
