/* Turns: the order of reads and writes of a store. */
#include "base/clock.h"
#include "store/store.h"

static uint64_t ring(uint64_t number) {
    return number % MST_STORE_TURNS;
}

static mst_status late(const char *what) {
    return MST_FAIL(MST_DEADLINE,
                    "waited too long %s: another step on the same store is stuck, or the timeout is too short", what);
}

mst_status mst_turn_take(mst_store *store, bool writer, int64_t deadline, mst_turn *out) {
    *out = (mst_turn){.store = store, .writer = writer};
    pthread_mutex_lock(&store->order_lock);
    while (writer && store->writers - mst_line_value(&store->committed) >= MST_STORE_TURNS - 1) {
        const uint64_t some = store->writers - MST_STORE_TURNS + 2;
        pthread_mutex_unlock(&store->order_lock);
        if (!mst_line_wait(&store->committed, some, deadline, false)) return late("for a turn to write");
        pthread_mutex_lock(&store->order_lock);
    }
    if (writer)
        out->number = ++store->writers;
    else
        store->readers[ring(out->number = store->writers)]++;
    pthread_mutex_unlock(&store->order_lock);
    return MST_OK;
}

mst_status mst_turn_begin(const mst_turn *turn, int64_t deadline) {
    const uint64_t before = turn->number - (turn->writer ? 1 : 0);
    return mst_line_wait(&turn->store->committed, before, deadline, true) ? MST_OK : late("to read the state");
}

/* No reader joins those between two writers once the second has its place: their number is final. */
mst_status mst_turn_write(const mst_turn *turn, int64_t deadline) {
    mst_store *store = turn->store;
    const uint64_t i = ring(turn->number - 1);
    return mst_line_wait(&store->readers_done[i], store->readers[i], deadline, true) ? MST_OK
                                                                                     : late("to write the state");
}

/* Writers that have ended are done when the readers before them are done too: also one that never wrote, and so did not
 * wait for them. So a writer that waits for the readers right before it has waited for all. */
static void settle(mst_store *store) {
    const uint64_t before = mst_line_value(&store->committed);
    uint64_t done = before;
    while (done < store->writers && store->ended[ring(done + 1)] &&
           mst_line_value(&store->readers_done[ring(done)]) == store->readers[ring(done)])
        store->ended[ring(++done)] = false;
    if (done > before) mst_line_advance(&store->committed, done);
}

void mst_turn_end(const mst_turn *turn) {
    mst_store *store = turn->store;
    pthread_mutex_lock(&store->order_lock);
    if (turn->writer)
        store->ended[ring(turn->number)] = true;
    else
        mst_line_add(&store->readers_done[ring(turn->number)], 1);
    settle(store);
    pthread_mutex_unlock(&store->order_lock);
}
