#include "run/executables.h"

#include <pthread.h>
#include <stdlib.h>

#include "run/executable_record.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mst_executable_exchange *exchanges;

void mst_executable_exchange_add(mst_executable_exchange *exchange) {
    pthread_mutex_lock(&lock);
    exchange->next = exchanges;
    exchanges = exchange;
    pthread_mutex_unlock(&lock);
}

void mst_executable_exchange_remove(mst_executable_exchange *exchange) {
    pthread_mutex_lock(&lock);
    mst_executable_exchange **at = &exchanges;
    while (*at && *at != exchange) at = &(*at)->next;
    if (*at) *at = exchange->next;
    pthread_mutex_unlock(&lock);
}

/* The exchange for a call; NULL: none. Release it after the call. */
static mst_executable_exchange *use_exchange(void) {
    pthread_mutex_lock(&lock);
    mst_executable_exchange *x = exchanges && !exchanges->next ? exchanges : NULL;
    if (x) x->retain(x->context);
    pthread_mutex_unlock(&lock);
    return x;
}

static mst_status make_alone(const mst_executable_order *order, void **data, size_t *size) {
    mst_executable_key key;
    mst_executable_key_make(&order->source, &key);
    if (!order->refused && mst_executable_find(&key, data, size)) return MST_OK;
    MST_TRY(order->compile(order->context, data, size));
    if (*data) mst_executable_keep(&key, *data, *size);
    free(*data);
    *data = NULL;
    return MST_OK;
}

/* An order whose `compile` also computes the hash of the compiled bytes. */
typedef struct hashed_order {
    const mst_executable_order *order;
    mst_executable_key bytes;
} hashed_order;

static mst_status compile_hashed(void *context, void **data, size_t *size) {
    hashed_order *h = context;
    MST_TRY(h->order->compile(h->order->context, data, size));
    mst_executable_hash(*data, *size, &h->bytes);
    return MST_OK;
}

mst_status mst_executable_make(const mst_executable_order *order, void **data, size_t *size) {
    mst_executable_exchange *x = use_exchange();
    hashed_order h = {.order = order};
    mst_executable_order hashed = *order;
    hashed.compile = compile_hashed;
    hashed.context = &h;
    *data = NULL;
    *size = 0;
    if (order->refused) { /* the calling thread's error says why */
        mst_executable_key key;
        mst_executable_key_make(&order->source, &key);
        mst_executable_refuse(&key);
    }
    const mst_status status = x ? x->make(x->context, &hashed, data, size) : make_alone(&hashed, data, size);
    if (x) x->release(x->context);
    if (status) return status;
    if (*data) mst_executable_hash(*data, *size, &h.bytes);
    mst_executable_note_used(&order->source, &h.bytes);
    return MST_OK;
}
