#include "base/team.h"
#include "muster/op.h"

/* Runs for each thread, so that one that is late does not keep the others waiting for long. */
enum { RUNS_PER_THREAD = 4 };

mst_status mst_parallel(const mst_kernel_args *a, int64_t n, int64_t grain, mst_parallel_body body, void *context) {
    if (n <= 0) return MST_OK;
    const int64_t threads = mst_team_size(a->team);
    if (threads == 1 || n <= grain) return body(context, 0, n, 0);
    const int64_t even = n / (threads * RUNS_PER_THREAD);
    return mst_team_run(a->team, n, even > grain ? (even + grain - 1) / grain * grain : grain, body, context);
}
