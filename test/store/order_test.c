/* The order of those who use a store. A turn that has to wait is asked with a deadline that has passed: then it fails
 * at once where it would have waited. */
#include <pthread.h>

#include "base/clock.h"
#include "store/store.h"
#include "support/test.h"

static mst_store *new_store(void) {
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    return store;
}

static mst_turn take(mst_store *store, bool writer) {
    mst_turn turn;
    EXPECT_OK(mst_turn_take(store, writer, 0, &turn));
    return turn;
}

static mst_turn reader(mst_store *store) {
    return take(store, false);
}

static mst_turn writer(mst_store *store) {
    return take(store, true);
}

static bool may_begin(const mst_turn *turn) {
    return mst_turn_begin(turn, 0) == MST_OK;
}

static bool may_write(const mst_turn *turn) {
    return mst_turn_write(turn, 0) == MST_OK;
}

static void readers_share_and_a_writer_waits_for_those_before_it(void **state) {
    (void)state;
    mst_store *store = new_store();
    const mst_turn a = reader(store), b = reader(store), w = writer(store), c = reader(store);
    assert_true(may_begin(&b) && may_begin(&a));
    assert_true(may_begin(&w)); /* it reads what they read */
    assert_false(may_write(&w));
    mst_turn_end(&a);
    assert_false(may_write(&w));
    mst_turn_end(&b);
    assert_true(may_write(&w));
    assert_false(may_begin(&c));
    mst_turn_end(&w);
    assert_true(may_begin(&c));
    mst_turn_end(&c);
    mst_store_release(store);
}

static void writers_begin_one_after_the_other(void **state) {
    (void)state;
    mst_store *store = new_store();
    const mst_turn a = writer(store), b = writer(store), c = writer(store);
    assert_true(may_begin(&a) && may_write(&a));
    assert_false(may_begin(&b));
    assert_false(may_begin(&c));
    mst_turn_end(&a);
    assert_true(may_begin(&b) && may_write(&b));
    assert_false(may_begin(&c));
    mst_turn_end(&b);
    assert_true(may_begin(&c) && may_write(&c));
    mst_turn_end(&c);
    mst_store_release(store);
}

static void writer_that_gives_up_before_its_turn_holds_up_nobody(void **state) {
    (void)state;
    mst_store *store = new_store();
    const mst_turn a = writer(store), b = writer(store), c = writer(store), r = reader(store), d = writer(store);
    mst_turn_end(&c);
    mst_turn_end(&b);
    assert_false(may_begin(&d)); /* a is at work */
    assert_false(may_begin(&r));
    mst_turn_end(&a);
    assert_true(may_begin(&r) && may_begin(&d));
    mst_turn_end(&r);
    assert_true(may_write(&d));
    mst_turn_end(&d);
    mst_store_release(store);
}

/* a failed step ends its turn while readers from before it are still at work */
static void writer_after_one_that_did_not_write_waits_for_the_readers_before_both(void **state) {
    (void)state;
    for (int began = 0; began < 2; began++) {
        mst_store *store = new_store();
        const mst_turn slow = reader(store), failed = writer(store), w = writer(store);
        assert_true(may_begin(&slow));
        if (began) assert_true(may_begin(&failed));
        mst_turn_end(&failed);
        if (may_begin(&w) && may_write(&w)) fail_msg("a writer and a reader at once");
        mst_turn_end(&slow);
        assert_true(may_begin(&w) && may_write(&w));
        mst_turn_end(&w);
        mst_store_release(store);
    }
}

static void too_many_writers_wait_for_a_place(void **state) {
    (void)state;
    mst_store *store = new_store();
    mst_turn turns[MST_STORE_TURNS], one_more;
    int count = 0;
    while (count < MST_STORE_TURNS && mst_turn_take(store, true, 0, &turns[count]) == MST_OK) count++;
    assert_in_range(count, 2, MST_STORE_TURNS - 1);
    EXPECT_ERROR(mst_turn_take(store, true, 0, &one_more), MST_DEADLINE, "waited too long for a turn to write");
    const mst_turn r = reader(store);
    mst_turn_end(&turns[0]);
    EXPECT_OK(mst_turn_take(store, true, 0, &one_more));
    for (int i = 1; i < count; i++) {
        assert_false(may_begin(&r));
        assert_true(may_begin(&turns[i]) && may_write(&turns[i]));
        mst_turn_end(&turns[i]);
    }
    assert_true(may_begin(&r) && may_begin(&one_more));
    assert_false(may_write(&one_more));
    mst_turn_end(&r);
    assert_true(may_write(&one_more));
    mst_turn_end(&one_more);
    mst_store_release(store);
}

/* ---- any order of events: against the rule itself ---- */

enum { EVENTS = 20000, MOST_TURNS = 40 };

typedef struct guest {
    mst_turn turn;
    int64_t place; /* in the order of all */
    bool began, writes;
} guest;

/* Whether WRITER may write, or a reader or writer may begin, by the rule: not while one before it is in the way. */
static bool is_free(const guest *guests, int count, const guest *who, bool to_write) {
    for (int i = 0; i < count; i++) {
        const guest *other = &guests[i];
        if (other == who || other->place > who->place) continue;
        if (other->turn.writer || to_write) return false;
    }
    return true;
}

/* A turn that may go on must; one that may not must not, but for readers and beginners behind a writer that has ended:
 * those may be held up until the readers before it have ended too. */
static void ask(guest *guests, int count, guest *who) {
    const bool to_write = who->began && who->turn.writer;
    const bool free_now = is_free(guests, count, who, to_write);
    const bool may = to_write ? may_write(&who->turn) : may_begin(&who->turn);
    if (may && !free_now) fail_msg("a turn went on while another was in its way");
    bool alone = true;
    for (int i = 0; i < count; i++) alone &= &guests[i] == who || guests[i].place > who->place;
    if (!may && alone) fail_msg("a turn waits with nobody before it");
    if (may && to_write)
        who->writes = true;
    else if (may)
        who->began = true;
}

static void turns_that_come_and_end_in_any_order_never_meet(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest guests[MOST_TURNS];
    int count = 0;
    int64_t places = 0;
    uint32_t random = 12345;
    for (int i = 0; i < EVENTS; i++) {
        random = random * 1664525u + 1013904223u;
        const unsigned event = random >> 29;
        if (count == 0 || (event < 2 && count < MOST_TURNS)) {
            /* none where an old guest holds up as many writers as there may be */
            guest *next = &guests[count];
            *next = (guest){.place = places++};
            if (mst_turn_take(store, random >> 20 & 1, 0, &next->turn) == MST_OK) count++;
            continue;
        }
        guest *who = &guests[(random >> 8) % (unsigned)count];
        if (event < 6) {
            ask(guests, count, who);
        } else {
            mst_turn_end(&who->turn);
            *who = guests[--count];
        }
        for (int k = 0; k < count; k++)
            for (int l = 0; l < count; l++)
                if (guests[k].writes && k != l && guests[l].began && guests[l].place < guests[k].place)
                    fail_msg("event %d: one writes while another one reads", i);
    }
    while (count) mst_turn_end(&guests[--count].turn);
    const mst_turn last = writer(store);
    assert_true(may_begin(&last) && may_write(&last));
    mst_turn_end(&last);
    mst_store_release(store);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 3000 };

typedef struct pair {
    mst_store *store;
    int64_t a, b; /* always equal between turns; the turns alone protect them */
    _Atomic int torn;
} pair;

static void *use_pair(void *context) {
    pair *p = context;
    for (int i = 0; i < ROUNDS; i++) {
        mst_turn turn;
        if (mst_turn_take(p->store, i % 3 == 0, MST_NEVER, &turn)) return p;
        if (i % 9 == 3) { /* gives up */
            mst_turn_end(&turn);
            continue;
        }
        if (mst_turn_begin(&turn, MST_NEVER)) return p;
        p->torn += p->a != p->b;
        if (turn.writer && i % 9 == 0) {
            if (mst_turn_write(&turn, MST_NEVER)) return p;
            p->a++;
            p->b++;
        }
        mst_turn_end(&turn);
    }
    return NULL;
}

static void threads_see_a_pair_as_the_turns_before_left_it(void **state) {
    (void)state;
    pair p = {.store = new_store()};
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, use_pair, &p), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(p.torn, 0);
    assert_int_equal(p.a, THREADS * ((ROUNDS + 8) / 9));
    mst_store_release(p.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_share_and_a_writer_waits_for_those_before_it),
        cmocka_unit_test(writers_begin_one_after_the_other),
        cmocka_unit_test(writer_that_gives_up_before_its_turn_holds_up_nobody),
        cmocka_unit_test(writer_after_one_that_did_not_write_waits_for_the_readers_before_both),
        cmocka_unit_test(too_many_writers_wait_for_a_place),
        cmocka_unit_test(turns_that_come_and_end_in_any_order_never_meet),
        cmocka_unit_test(threads_see_a_pair_as_the_turns_before_left_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
