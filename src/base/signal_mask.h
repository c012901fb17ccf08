/** Signals that a thread must not handle while it computes.
 *
 *  Kernels of oneDNN before 3.11 let the stack register point into a block of malloc while they multiply. The operating
 *  system writes the frame of a signal handler below that register: a handler that runs at that time overwrites the
 *  heap. So threads of the library never handle signals (base/thread.h), and a thread of the program handles them only
 *  after the step that it computes. Signals of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT) are
 *  never blocked. If they were, the operating system would end the process without calling its handler. */
#ifndef MUSTER_BASE_SIGNAL_MASK_H
#define MUSTER_BASE_SIGNAL_MASK_H

#include <signal.h>
#include <stdbool.h>

/** Sets OUT to all signals except those of faults. */
void mst_signals_most(sigset_t *out);
/** Blocks all signals except those of faults in the calling thread. Calls may be nested: the last mst_signals_unblock
 *  restores the mask that the thread had before the first call. */
void mst_signals_block(void);
void mst_signals_unblock(void);
/** Marks the calling thread as one of the library (mst_thread_start), which never handles signals. mst_signals_block
 *  and mst_signals_unblock do nothing there. */
void mst_signals_never(void);
/** Whether the calling thread delays signals that it would handle otherwise: it is between mst_signals_block and
 *  mst_signals_unblock, and is not a thread of the library. */
bool mst_signals_wait(void);
/** Handles pending signals in a thread that waits for a long time between block and unblock. No kernel may be on its
 *  stack. */
void mst_signals_let_in(void);

#endif
