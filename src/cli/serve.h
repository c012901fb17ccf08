/** A parameter server, for `muster server` and for `muster train --job-name ps`. */
#ifndef MUSTER_CLI_SERVE_H
#define MUSTER_CLI_SERVE_H

#include "muster/server.h"

/** Serves until the job has ended. Sets `log` and `stop` of OPTIONS. Prints errors, and returns an exit status. QUIET:
 *  prints nothing else. JSON: prints the events `serving` and `served`. */
int serve(mst_server_options options, bool quiet, bool json);

#endif
