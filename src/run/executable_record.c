#include "run/executable_record.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mst_used_executable used[MST_USED_EXECUTABLES_MOST]; /* in the order of their last notes, oldest first */
static int num_used;
static _Atomic uint64_t num_uses;

void mst_executable_hash(const void *data, size_t size, mst_executable_key *out) {
    _Static_assert(sizeof out->byte == crypto_hash_sha256_BYTES, "a hash has the size of a key");
    memset(out, 0, sizeof *out);
    if (data)
        crypto_hash_sha256(out->byte, data, size);
    else if (sodium_init() >= 0)
        randombytes_buf(out->byte, sizeof out->byte);
}

static int compare_sources(const void *a, const void *b) {
    const mst_used_executable *x = a, *y = b;
    return memcmp(&x->source, &y->source, sizeof x->source);
}

/* Removes executable I. */
static void drop_used(int i) {
    memmove(&used[i], &used[i + 1], (size_t)(--num_used - i) * sizeof *used);
}

void mst_executable_note_used(const mst_executable_source *source, const mst_executable_key *bytes) {
    mst_executable_source compiler = *source;
    mst_used_executable x = {.bytes = *bytes};
    compiler.text = "";
    mst_executable_key_make(source, &x.source);
    mst_executable_key_make(&compiler, &x.compiler);
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < num_used && compare_sources(&used[i], &x) != 0) i++;
    if (i < num_used)
        drop_used(i);
    else if (num_used == MST_USED_EXECUTABLES_MOST)
        drop_used(0);
    used[num_used++] = x;
    atomic_fetch_add(&num_uses, 1);
    pthread_mutex_unlock(&lock);
}

uint64_t mst_executables_num_uses(void) {
    return atomic_load(&num_uses);
}

int mst_executables_used(mst_used_executable out[MST_USED_EXECUTABLES_MOST]) {
    pthread_mutex_lock(&lock);
    const int count = num_used;
    memcpy(out, used, (size_t)count * sizeof *used);
    pthread_mutex_unlock(&lock);
    if (count) qsort(out, (size_t)count, sizeof *out, compare_sources);
    return count;
}
