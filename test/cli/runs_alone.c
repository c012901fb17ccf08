/* Loaded before the library, to replace mst_session_runs_alone: the number of runs that one thread made alone is
 * that of the environment variable RUNS_ALONE. The true number depends on the load of the machine;
 * run/threading_choice_test.c tests it. */
#include <stdlib.h>

#include "muster/session.h"

MST_API int64_t mst_session_runs_alone(const mst_session *session) {
    const char *runs = getenv("RUNS_ALONE");
    (void)session;
    return runs ? strtoll(runs, NULL, 10) : 0;
}
