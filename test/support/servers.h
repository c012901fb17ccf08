/** Task servers of a cluster that are all in this process: job "worker" with the tasks 0 and 1, and job "ps" with the
 *  task 0, each with two devices of one thread. */
#ifndef MUSTER_TEST_SUPPORT_SERVERS_H
#define MUSTER_TEST_SUPPORT_SERVERS_H

#include "muster/muster.h"
#include "support/tasks.h"

enum { SERVERS = 3, SERVER_SECONDS = 30 };

typedef struct servers {
    task_address address[SERVERS];
    mst_task_server *server[SERVERS]; /* worker 0, which leads, worker 1, ps 0 */
    mst_store *store[SERVERS];
    const char *devices; /* of each; set by servers_make */
} servers;

/** Finds addresses and makes stores; starts none. */
void servers_make(servers *all);
/** The cluster, as task I. */
mst_cluster *servers_cluster(const servers *all, int i);
void server_start(servers *all, int i);
/** Ends it; its store is emptied, as where a process ends. */
void server_end(servers *all, int i);
void servers_start(servers *all);
void servers_end(servers *all);

/** A session with the target of task I; OPTIONS may be NULL. */
mst_session *servers_session(const servers *all, int i, mst_graph *graph, const mst_session_options *options);

#endif
