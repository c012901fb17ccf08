/** Signals that ask a command to end in an orderly way. A thread of its own waits for them. No other thread handles
 *  them, since none may be interrupted inside a kernel (base/signal_mask.h). */
#ifndef MUSTER_CLI_SIGNALS_H
#define MUSTER_CLI_SIGNALS_H

#include <stdbool.h>

#include "muster/status.h"

/** From now on the first SIGINT, SIGTERM or SIGHUP is only noted; the second one of the same kind kills the process. A
 *  SIGHUP that is ignored, as under nohup, stays ignored. SIGPIPE is ignored: see signals_reader_left. */
MST_CHECKED mst_status signals_catch(void);
/** From now on, until signals_catch, these signals end the process at once, with the exit status 128 + the signal's
 *  number. This includes the first process of a container, which the kernel would not end. */
MST_CHECKED mst_status signals_end_at_once(void);
/** The number of the signal that came; 0: none did. */
int signals_caught(void);
/** The same for options of the library that are named `stop`. */
bool signals_stop(void *context);
/** Called at the start of every command. A write to a pipe or socket that nobody reads any more fails; it does not kill
 *  the process. If that is standard output, as in `| head`, the process exits at once with status 128 + SIGPIPE. */
void signals_begin(void);
/** Standard output has moved to DESCRIPTOR (cli/standard_output.h): its reader is meant from now on. */
void signals_move_output(int descriptor);
/** Whether standard output is a pipe that nobody reads any more; if so, this is noted as a SIGPIPE that came. Call it
 *  after signals_catch when a write has failed. The command then ends in an orderly way, and that is not an error. */
bool signals_reader_left(void);

#endif
