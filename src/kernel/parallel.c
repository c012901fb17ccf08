#include "base/team.h"
#include "muster/op.h"

/* At least so many runs for each thread, and less than twice as many, where there are grains enough: one that is late
 * does not keep the others waiting for long. */
enum { RUNS_PER_THREAD = 4 };

mst_status mst_parallel(const mst_kernel_args *a, int64_t n, int64_t grain, mst_parallel_body body, void *context) {
    if (n <= 0) return MST_OK;
    const int64_t threads = mst_team_size(a->team), runs = threads * RUNS_PER_THREAD;
    if (threads == 1 || n <= grain) return body(context, 0, n, 0);
    return mst_team_run(a->team, n, n / grain > runs ? n / grain / runs * grain : grain, body, context);
}
