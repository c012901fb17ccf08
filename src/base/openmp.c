#include "base/openmp.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "base/signal_mask.h"

/* Makes sure that memory is available for the thread's first call of OpenMP: without it libgomp ends the process.
 * Allocates and frees small blocks of each size. The C library keeps them for this thread, so no other thread can take
 * them. */
static bool has_room(void) {
    enum { STEP = 16, COUNT = 32 /* blocks of 16 to 512 bytes; libgomp takes 216 */ };
    static _Thread_local bool known;
    void *volatile block[COUNT];
    if (known) return true;
    known = true;
    for (size_t i = 0; i < COUNT; i++) {
        block[i] = malloc(STEP * (i + 1));
        known &= block[i] != NULL;
    }
    for (size_t i = 0; i < COUNT; i++) free(block[i]);
    return known;
}

mst_status mst_openmp_begin(int *before) {
    *before = 1;
    mst_signals_block();
    if (!has_room()) return MST_NO_MEMORY("for a thread");
    *before = omp_get_max_threads();
    if (*before != 1) omp_set_num_threads(1);
    return MST_OK;
}

void mst_openmp_end(int before) {
    if (before != 1) omp_set_num_threads(before);
    mst_signals_unblock();
}
