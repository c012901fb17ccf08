#include "base/openmp.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/no_memory.h"

/* Makes sure that the thread's first call of OpenMP gets its memory: what is given back here is cut for it. */
static bool has_room(void) {
    enum { ROOM = 4096 }; /* more than the C library sets aside by size for blocks of this size only */
    static _Thread_local bool known;
    if (known) return true;
    void *volatile room = malloc(ROOM);
    known = room != NULL;
    free(room);
    return known;
}

mst_status mst_openmp_begin(int *before) {
    *before = 1;
    if (!has_room()) return MST_NO_MEMORY("for a thread");
    *before = omp_get_max_threads();
    if (*before != 1) omp_set_num_threads(1);
    return MST_OK;
}

void mst_openmp_end(int before) {
    if (before != 1) omp_set_num_threads(before);
}
