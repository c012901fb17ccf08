/** Signals that a thread must not handle while it computes.
 *
 *  Kernels of oneDNN before 3.11 let the stack register point into a block of malloc while they multiply. The operating
 *  system writes the frame of a signal handler below that register: a handler that runs then overwrites the heap. So
 *  threads of the library handle no signals at all (base/thread.h), and a thread of the program handles none while it
 *  computes a step: they wait until the step has ended. Signals of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
 *  SIGSYS, SIGABRT) are never blocked: the operating system would end the process without its handler. */
#ifndef MUSTER_BASE_SIGNAL_MASK_H
#define MUSTER_BASE_SIGNAL_MASK_H

#include <signal.h>
#include <stdbool.h>

/** Every signal but those of faults. */
void mst_signals_most(sigset_t *out);
/** Blocks them in the calling thread, until as many calls of mst_signals_unblock have followed as there were of this
 *  one; the last of these gives the thread the mask that it had. */
void mst_signals_block(void);
void mst_signals_unblock(void);
/** The calling thread, started by mst_thread_start, never handles signals: the two above do nothing there. */
void mst_signals_never(void);
/** Whether signals wait for the calling thread, which is between mst_signals_block and mst_signals_unblock. */
bool mst_signals_wait(void);
/** Handles those that have come: for a thread that has nothing to do for long between the two. No kernel may be on its
 *  stack. */
void mst_signals_let_in(void);

#endif
