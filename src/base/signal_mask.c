#include "base/signal_mask.h"

#include <pthread.h>
#include <stdint.h>

static _Thread_local int64_t depth;   /* number of calls of mst_signals_block without their mst_signals_unblock */
static _Thread_local sigset_t before; /* the thread's mask before the first of these calls */
static _Thread_local bool never;      /* the thread never handles signals */

void mst_signals_most(sigset_t *out) {
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(out);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(out, faults[i]);
}

static void block(sigset_t *mask) {
    sigset_t most;
    mst_signals_most(&most);
    pthread_sigmask(SIG_BLOCK, &most, mask);
}

void mst_signals_block(void) {
    if (depth++ == 0 && !never) block(&before);
}

void mst_signals_unblock(void) {
    if (--depth == 0 && !never) pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void mst_signals_never(void) {
    never = true;
}

bool mst_signals_wait(void) {
    return depth > 0 && !never;
}

void mst_signals_let_in(void) {
    if (!mst_signals_wait()) return;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    block(NULL);
}
