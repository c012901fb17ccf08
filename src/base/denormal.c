#include "base/denormal.h"

static _Thread_local int flushed = 1; /* threads of the team, the calling one among them */

void mst_flush_team(int num_threads) {
    if (num_threads <= flushed) return;
    flushed = num_threads;
#pragma omp parallel num_threads(num_threads)
    mst_flush_denormals();
}

void mst_flush_team_end(void) {
    if (flushed == 1) return;
#pragma omp parallel num_threads(flushed)
    mst_float_mode_set(mst_float_mode() & ~(uint64_t)MST_FLUSH);
    flushed = 1;
}
