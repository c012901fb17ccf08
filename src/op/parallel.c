#include "base/argument.h"
#include "base/team.h"
#include "muster/op.h"

/* Each thread gets about so many runs of items. With one run per thread, a late thread would keep the others waiting
 * for long. */
enum { RUNS_PER_THREAD = 4 };

/* How many grains the busiest of THREADS threads gets if GRAINS grains are handed out in runs of RUN grains. */
static int64_t most_of(int64_t grains, int64_t run, int64_t threads) {
    const int64_t runs = (grains + run - 1) / run;
    return (runs + threads - 1) / threads * run;
}

mst_status mst_parallel(const mst_kernel_args *a, int64_t n, int64_t grain, mst_parallel_body body, void *context) {
    if (MST_IS_NULL(a) || MST_IS_NULL(body)) return MST_INVALID;
    if (n <= 0) return MST_OK;
    const int64_t threads = mst_team_size(a->team);
    if (threads == 1 || n <= grain) return body(context, 0, n, 0);
    /* A run has FEW grains, rounded down. It gets one more if the busiest thread then has no more grains than before:
     * the same time with fewer runs. */
    const int64_t grains = (n + grain - 1) / grain, few = grains / (threads * RUNS_PER_THREAD);
    const bool one_more = few == 0 || most_of(grains, few + 1, threads) <= most_of(grains, few, threads);
    return mst_team_run(a->team, n, (few + one_more) * grain, body, context);
}
