/** Signals that ask a command to end its work in order. */
#ifndef MUSTER_CLI_SIGNALS_H
#define MUSTER_CLI_SIGNALS_H

/** From now on the first SIGINT or SIGTERM is only noted, and a second one kills. SIGPIPE is ignored. */
void signals_catch(void);
/** From now on SIGINT and SIGTERM end the process at once, with the exit status 128 + the signal's number, also the
 *  first process of a container, which the kernel spares otherwise. SIGPIPE is ignored. */
void signals_end_at_once(void);
/** The number of the signal that came, 0 where none did. */
int signals_caught(void);

#endif
