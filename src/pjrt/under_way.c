#include "pjrt/under_way.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

static _Atomic int64_t under_way;
static atomic_bool is_ending;
static _Atomic pid_t guarded; /* the process in which exit() waits: a child of fork() has none of the threads */

void mst_pjrt_work_begin(void) {
    atomic_fetch_add(&under_way, 1);
}

void mst_pjrt_work_end(void) {
    atomic_fetch_sub(&under_way, 1);
}

bool mst_pjrt_is_ending(void) {
    return atomic_load(&is_ending);
}

static void end_work(int status, void *context) {
    static const int64_t patience = 2000000000; /* ns */
    enum { MILLISECOND = 1000 };
    (void)context;
    if (atomic_load(&guarded) != getpid()) return;
    atomic_store(&is_ending, true);
    const int64_t deadline = mst_clock_now() + patience;
    while (atomic_load(&under_way) && mst_clock_now() < deadline) usleep(MILLISECOND);
    if (!atomic_load(&under_way)) return;
    fflush(NULL);
    _exit(status);
}

void mst_pjrt_guard_exit(void) {
    atomic_store(&guarded, getpid());
    (void)on_exit(end_work, NULL); /* if memory runs out, exit() does not wait */
}

void mst_pjrt_guard_work(void) {
    enum { MOST = 1000 }; /* a limit, because each registration takes memory and a process may have many errors */
    static atomic_int times;
    if (atomic_load(&under_way) && atomic_load(&times) < MOST && atomic_fetch_add(&times, 1) < MOST)
        mst_pjrt_guard_exit();
}
