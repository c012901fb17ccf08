#include "base/reserve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/no_memory.h"

/* Bytes of the reserve for all threads together: oneDNN takes 74 KB for a product on most processors, 2 MB on the
 * oldest. The C library may ask the system for 1 MB at once. */
enum { RESERVE = 8 << 20 };

/* Held while the reserve is allocated, and while its last user leaves. Spending the reserve needs no lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t users;
static void *_Atomic block; /* NULL: there are no users, or the reserve has been spent */

static mst_status reserve_take(void) {
    void *data = mmap(NULL, RESERVE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return MST_NO_MEMORY("to keep in reserve (%d MB): take a smaller batch or model, or end other programs",
                             RESERVE >> 20);
    atomic_store(&block, data);
    return MST_OK;
}

mst_status mst_reserve_retain(void) {
    pthread_mutex_lock(&lock);
    const mst_status status = atomic_load(&block) ? MST_OK : reserve_take();
    if (!status) atomic_fetch_add(&users, 1);
    pthread_mutex_unlock(&lock);
    return status;
}

void mst_reserve_release(void) {
    pthread_mutex_lock(&lock);
    if (atomic_fetch_sub(&users, 1) == 1) mst_reserve_spend();
    pthread_mutex_unlock(&lock);
}

void mst_reserve_spend(void) {
    void *data = atomic_exchange(&block, NULL);
    if (data) munmap(data, RESERVE);
}

mst_status mst_reserve_renew(void) {
    if (mst_reserve_is_there() || !atomic_load(&users)) return MST_OK;
    pthread_mutex_lock(&lock);
    const mst_status status = mst_reserve_is_there() || !atomic_load(&users) ? MST_OK : reserve_take();
    pthread_mutex_unlock(&lock);
    return status;
}

bool mst_reserve_is_there(void) {
    return atomic_load(&block) != NULL;
}
