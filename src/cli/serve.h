/** A parameter server, for `muster server` and for `muster train --job-name ps`. */
#ifndef MUSTER_CLI_SERVE_H
#define MUSTER_CLI_SERVE_H

#include "muster/server.h"

/** Serves until the job has ended; `log` and `stop` are set here. Returns an exit status, and has printed what was
 *  wrong. QUIET: says nothing else. */
int serve(mst_server_options options, bool quiet);

#endif
