/** A task server (muster/server.h), for `muster server`. */
#ifndef MUSTER_CLI_SERVE_SESSIONS_H
#define MUSTER_CLI_SERVE_SESSIONS_H

#include "muster/server.h"

/** Serves until a signal asks it to end. Sets `log` of OPTIONS. Prints errors, and returns an exit status. QUIET:
 *  prints nothing else. */
int serve_sessions(mst_task_server_options options, bool quiet);

/** Makes the cluster of TEXT, "local=localhost:2222,localhost:2223;ps=localhost:2224", for task INDEX of JOB. NULL: of
 *  the first job in TEXT. */
MST_CHECKED mst_status cluster_from_jobs(const char *text, const char *job, int index, mst_cluster **out);

#endif
