/** Signals that ask a command to end its work in order. They come to a thread of their own, which waits for them: no
 *  other handles any, since none may be interrupted inside a kernel (base/signal_mask.h). */
#ifndef MUSTER_CLI_SIGNALS_H
#define MUSTER_CLI_SIGNALS_H

#include <stdbool.h>

#include "muster/status.h"

/** From now on the first SIGINT, SIGTERM or SIGHUP is only noted, and the same once more kills; a SIGHUP that was
 *  ignored, as nohup has it, stays so. SIGPIPE is ignored: see signals_reader_left. */
MST_CHECKED mst_status signals_catch(void);
/** From now on, or until signals_catch, these signals end the process at once, with the exit status 128 + the signal's
 *  number, also the first process of a container, which the kernel spares otherwise. */
MST_CHECKED mst_status signals_end_at_once(void);
/** The number of the signal that came, 0 where none did. */
int signals_caught(void);
/** Every command begins with it. A write to a pipe or socket that nobody reads any more fails, and does not kill; but
 *  where that is standard output, as of `| head`, the process ends at once with the status 128 + SIGPIPE. */
void signals_begin(void);
/** Whether standard output is a pipe that nobody reads any more; it is noted as a SIGPIPE that came. To be asked where
 *  a write has failed, behind signals_catch: the command then ends in order, and that is no error. */
bool signals_reader_left(void);

#endif
