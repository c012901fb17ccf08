/* Loaded before the library: as many runs of a session were made by one thread alone as RUNS_ALONE says. How many there
 * are depends on what else the machine does; run/threading_choice_test.c shows how it is decided. */
#include <stdlib.h>

#include "muster/session.h"

MST_API int64_t mst_session_runs_alone(const mst_session *session) {
    const char *runs = getenv("RUNS_ALONE");
    (void)session;
    return runs ? strtoll(runs, NULL, 10) : 0;
}
