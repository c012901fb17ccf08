/** A task server (muster/server.h), for `muster server`. */
#ifndef MUSTER_CLI_SERVE_SESSIONS_H
#define MUSTER_CLI_SERVE_SESSIONS_H

#include "muster/server.h"

/** Serves until a signal asks for its end; `log` is set here. Returns an exit status, and has printed what was wrong.
 *  QUIET: says nothing else. */
int serve_sessions(mst_task_server_options options, bool quiet);

/** The cluster of TEXT, "local=localhost:2222,localhost:2223;ps=localhost:2224", as task INDEX of JOB (NULL: of the
 *  first that it names). */
MST_CHECKED mst_status cluster_from_jobs(const char *text, const char *job, int index, mst_cluster **out);

#endif
