/** Signals that ask a command to end its work in order. */
#ifndef MUSTER_CLI_SIGNALS_H
#define MUSTER_CLI_SIGNALS_H

#include <stdbool.h>

/** From now on the first SIGINT, SIGTERM or SIGHUP is only noted, and a second one kills; a SIGHUP that was ignored, as
 *  nohup has it, stays so. SIGPIPE is ignored: see signals_reader_left. */
void signals_catch(void);
/** From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE end the process at once, with the exit status 128 + the signal's
 *  number, also the first process of a container, which the kernel spares otherwise. */
void signals_end_at_once(void);
/** The number of the signal that came, 0 where none did. */
int signals_caught(void);
/** Whether standard output is a pipe that nobody reads any more, as of `| head`; it is noted as a SIGPIPE that came. To
 *  be asked where a write has failed: the command then ends in order, and that is no error. */
bool signals_reader_left(void);

#endif
