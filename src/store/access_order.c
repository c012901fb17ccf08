/* Turns: the order of reads and writes of a store.
 *
 * Each entry has a queue of uses, in the order in which their turns were taken. A turn takes its places in all its
 * queues at once, under one lock. So two turns have the same order in every queue that they share. A turn waits only
 * for earlier turns, and no two turns wait for each other.
 *
 *      "w"     reader 1, writer 2, reader 3          writer 2 may read, and writes when reader 1 has ended
 *      "b"     writer 2, writer 4                    reader 3 and writer 4 wait for writer 2
 *      "other" writer 5                              waits for no other use
 */
#include "base/clock.h"
#include "store/store.h"

static mst_status late(const char *what) {
    return MST_FAIL(MST_DEADLINE,
                    "waited too long %s: another step on the same store is stuck, or the timeout is too short", what);
}

/* ---- queues: under the lock ---- */

/* Inserts USE into its queue before NEXT; NULL: at the end. */
static void insert(mst_use *use, mst_use *next) {
    mst_state *state = use->state;
    use->after = next;
    use->before = next ? next->before : state->last;
    *(use->before ? &use->before->after : &state->first) = use;
    *(next ? &next->before : &state->last) = use;
}

static void remove_use(mst_use *use) {
    mst_state *state = use->state;
    *(use->before ? &use->before->after : &state->first) = use->after;
    *(use->after ? &use->after->before : &state->last) = use->before;
}

/* COUNTER is the number of uses of TURN that have to wait, and *HELD_UP says whether one of its uses is counted there.
 * Counts this use if NOW is true, else no longer counts it. Wakes the turn when the counter reaches 0. */
static void count(mst_turn *turn, bool *held_up, bool now, _Atomic int64_t *counter) {
    if (*held_up == now) return;
    *held_up = now;
    if (atomic_fetch_add(counter, now ? 1 : -1) == 1 && !now) mst_timeline_add(&turn->moved, 1);
}

/* Recomputes which uses in the queue of STATE have to wait, and updates the counters of their turns. */
static void settle(const mst_state *state) {
    bool any = false, writer = false;
    for (mst_use *use = state->first; use; use = use->after) {
        count(use->turn, &use->behind_writer, writer, &use->turn->behind_writers);
        count(use->turn, &use->behind_any, any && use->excludes, &use->turn->behind_others);
        any = true;
        writer |= use->excludes;
    }
}

/* ---- taking a turn ---- */

static void access_order_prepare(mst_store *store, mst_use *uses, int64_t num_uses, mst_turn *turn) {
    turn->store = store;
    turn->use = uses;
    turn->num_uses = num_uses;
    turn->visits = turn->wants_to_write = turn->writes = false;
    atomic_store_explicit(&turn->behind_writers, 0, memory_order_relaxed);
    atomic_store_explicit(&turn->behind_others, 0, memory_order_relaxed);
    for (int64_t i = 0; i < num_uses; i++) {
        uses[i].turn = turn;
        uses[i].excludes = uses[i].writes;
        uses[i].behind_writer = uses[i].behind_any = false;
    }
}

void mst_turn_take(mst_store *store, mst_use *uses, int64_t num_uses, mst_turn *turn) {
    access_order_prepare(store, uses, num_uses, turn);
    pthread_mutex_lock(&store->order_lock);
    turn->number = ++store->turns;
    for (int64_t i = 0; i < num_uses; i++) {
        insert(&uses[i], NULL);
        settle(uses[i].state);
    }
    pthread_mutex_unlock(&store->order_lock);
}

static bool waits_for_a_step(const mst_turn *turn) {
    for (int64_t i = 0; i < turn->num_uses; i++)
        for (const mst_use *use = turn->use[i].before; use; use = use->before)
            if (!use->turn->visits) return true;
    return false;
}

/* Whether new visitors (mst_turn_visit) must wait for TURN. They must if it already writes, or if it waits to write and
 * only other visitors are before it. Otherwise visitors that keep coming could hold up a writer forever. */
static bool goes_before_visitors(const mst_turn *turn) {
    return turn->writes || (turn->wants_to_write && !waits_for_a_step(turn));
}

void mst_turn_visit(mst_store *store, mst_use *uses, int64_t num_uses, mst_turn *turn) {
    access_order_prepare(store, uses, num_uses, turn);
    turn->visits = true;
    pthread_mutex_lock(&store->order_lock);
    for (int64_t i = 0; i < num_uses; i++) {
        mst_use *next = uses[i].state->first;
        while (next && !next->excludes) next = next->after;
        if (next && goes_before_visitors(next->turn)) next = next->after;
        insert(&uses[i], next);
        settle(uses[i].state);
    }
    pthread_mutex_unlock(&store->order_lock);
}

/* ---- in a turn ---- */

static bool wait_until_0(mst_turn *turn, _Atomic int64_t *counter, int64_t deadline) {
    for (;;) {
        const uint64_t seen = mst_timeline_value(&turn->moved);
        if (atomic_load(counter) == 0) return true;
        if (!mst_timeline_wait(&turn->moved, seen + 1, deadline, true)) return atomic_load(counter) == 0;
    }
}

mst_status mst_turn_begin(mst_turn *turn, int64_t deadline) {
    return wait_until_0(turn, &turn->behind_writers, deadline) ? MST_OK : late("to read the state");
}

mst_status mst_turn_write(mst_turn *turn, int64_t deadline) {
    mst_store *store = turn->store;
    pthread_mutex_lock(&store->order_lock);
    turn->wants_to_write = true;
    while (atomic_load(&turn->behind_others)) {
        pthread_mutex_unlock(&store->order_lock);
        const bool in_time = wait_until_0(turn, &turn->behind_others, deadline);
        pthread_mutex_lock(&store->order_lock); /* a visitor may have come in the meantime */
        if (!in_time && atomic_load(&turn->behind_others)) {
            turn->wants_to_write = false;
            pthread_mutex_unlock(&store->order_lock);
            return late("to write the state");
        }
    }
    turn->writes = true;
    pthread_mutex_unlock(&store->order_lock);
    return MST_OK;
}

void mst_turn_drop_writes(mst_turn *turn) {
    mst_store *store = turn->store;
    pthread_mutex_lock(&store->order_lock);
    turn->writes = turn->wants_to_write = false;
    for (int64_t i = 0; i < turn->num_uses; i++)
        if (turn->use[i].excludes) {
            turn->use[i].excludes = false;
            settle(turn->use[i].state);
        }
    pthread_mutex_unlock(&store->order_lock);
}

void mst_turn_end(mst_turn *turn) {
    mst_store *store = turn->store;
    pthread_mutex_lock(&store->order_lock);
    for (int64_t i = 0; i < turn->num_uses; i++) {
        remove_use(&turn->use[i]);
        settle(turn->use[i].state);
    }
    pthread_mutex_unlock(&store->order_lock);
}
