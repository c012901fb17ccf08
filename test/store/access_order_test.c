/* The order of the steps and calls that use a store. The test asks for a turn with a deadline that has passed: the
 * call fails at once if it would have to wait. */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/store.h"
#include "support/test.h"

static mst_store *new_store(void) {
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    return store;
}

/* A turn for some of the entries of a test. */
enum { ENTRIES = 5, MOST_TURNS = 40 };

typedef struct guest {
    mst_turn turn;
    mst_use use[ENTRIES];
    int64_t place; /* in the order of all; of visitors, none */
    bool began, writes, is_writer;
} guest;

static mst_state *entry(mst_store *store, int i) {
    const mst_spec spec = {.dtype = MST_F32};
    mst_state *state;
    const char name[] = {(char)('a' + i), '\0'};
    EXPECT_OK(mst_store_declare(store, NULL, name, MST_STATE_WEIGHT, &spec, &state));
    return state;
}

/* What a turn uses: for "a" it reads the first entry, for "A" it writes it, for "bC" it reads the second and writes the
 * third. */
static int uses_of(mst_store *store, const char *what, mst_use *use) {
    int count = 0;
    for (; what[count]; count++)
        use[count] = (mst_use){.state = entry(store, (what[count] | 32) - 'a'), .writes = !(what[count] & 32)};
    return count;
}

static guest *take(mst_store *store, const char *what) {
    guest *g = aligned_alloc(_Alignof(guest), sizeof *g);
    assert_non_null(g);
    memset(g, 0, sizeof *g);
    mst_turn_take(store, g->use, uses_of(store, what, g->use), &g->turn);
    return g;
}

static guest *visit(mst_store *store, const char *what) {
    guest *g = aligned_alloc(_Alignof(guest), sizeof *g);
    assert_non_null(g);
    memset(g, 0, sizeof *g);
    mst_turn_visit(store, g->use, uses_of(store, what, g->use), &g->turn);
    return g;
}

static void end(guest *g) {
    mst_turn_end(&g->turn);
    free(g);
}

static bool may_begin(guest *g) {
    return mst_turn_begin(&g->turn, 0) == MST_OK;
}

static bool may_write(guest *g) {
    return mst_turn_write(&g->turn, 0) == MST_OK;
}

static void readers_share_and_a_writer_waits_for_those_before_it(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest *a = take(store, "a"), *b = take(store, "a"), *w = take(store, "A"), *c = take(store, "a");
    assert_true(may_begin(b) && may_begin(a));
    assert_true(may_begin(w)); /* it reads what they read */
    assert_false(may_write(w));
    end(a);
    assert_false(may_write(w));
    end(b);
    assert_true(may_write(w));
    assert_false(may_begin(c));
    end(w);
    assert_true(may_begin(c));
    end(c);
    mst_store_release(store);
}

static void writers_begin_one_after_the_other(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest *a = take(store, "A"), *b = take(store, "A"), *c = take(store, "A");
    assert_true(a->turn.number < b->turn.number && b->turn.number < c->turn.number);
    assert_true(may_begin(a) && may_write(a));
    assert_false(may_begin(b));
    assert_false(may_begin(c));
    end(a);
    assert_true(may_begin(b) && may_write(b));
    assert_false(may_begin(c));
    end(b);
    assert_true(may_begin(c) && may_write(c));
    end(c);
    mst_store_release(store);
}

static void turns_that_share_no_entry_run_side_by_side(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest *a = take(store, "Ad"), *b = take(store, "Bd"), *both = take(store, "ABc"), *c = take(store, "C");
    assert_true(may_begin(a) && may_write(a) && may_begin(b) && may_write(b));
    assert_false(may_begin(both));
    assert_true(may_begin(c)); /* `both` only reads what it writes */
    assert_false(may_write(c));
    end(b);
    assert_false(may_begin(both));
    end(a);
    assert_true(may_begin(both) && may_write(both));
    end(both);
    assert_true(may_write(c));
    end(c);
    mst_store_release(store);
}

static void writer_that_gives_up_before_its_turn_holds_up_nobody(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest *a = take(store, "A"), *b = take(store, "A"), *c = take(store, "A"), *r = take(store, "a"),
          *d = take(store, "A");
    end(c);
    end(b);
    assert_false(may_begin(d)); /* a is at work */
    assert_false(may_begin(r));
    end(a);
    assert_true(may_begin(r) && may_begin(d));
    end(r);
    assert_true(may_write(d));
    end(d);
    mst_store_release(store);
}

/* a failed step ends its turn while readers from before it are still at work */
static void writer_after_one_that_did_not_write_waits_for_the_readers_before_both(void **state) {
    (void)state;
    for (int began = 0; began < 2; began++) {
        mst_store *store = new_store();
        guest *slow = take(store, "a"), *failed = take(store, "A"), *w = take(store, "A");
        assert_true(may_begin(slow));
        if (began) assert_true(may_begin(failed));
        end(failed);
        assert_true(may_begin(w));
        if (may_write(w)) fail_msg("a writer and a reader at once");
        end(slow);
        assert_true(may_write(w));
        end(w);
        mst_store_release(store);
    }
}

/* A step that is given up before the gate goes on reading until it comes back. */
static void writer_that_drops_its_writes_holds_up_writers_alone(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest *stuck = take(store, "aB"), *r = take(store, "b"), *w = take(store, "B");
    assert_true(may_begin(stuck) && !may_begin(r) && !may_begin(w));
    mst_turn_drop_writes(&stuck->turn);
    assert_true(may_begin(r) && may_begin(w));
    end(r);
    assert_false(may_write(w));
    end(stuck);
    assert_true(may_write(w));
    end(w);
    mst_store_release(store);
}

static void visitors_wait_for_writers_only(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest *stuck = take(store, "AB"), *w = take(store, "BC"), *writing = take(store, "D");
    assert_true(may_begin(stuck) && !may_begin(w) && may_begin(writing) && may_write(writing));
    guest *v = visit(store, "abc"), *all = visit(store, "abcde");
    assert_true(may_begin(v) && !may_begin(all));
    assert_false(may_write(stuck)); /* they read */
    end(v);
    end(writing);
    assert_true(may_begin(all) && !may_write(stuck));
    end(all);
    assert_true(may_write(stuck));
    guest *late = visit(store, "b");
    assert_false(may_begin(late) || may_begin(w));
    end(stuck);
    assert_true(may_begin(late) && may_begin(w) && !may_write(w));
    end(late);
    assert_true(may_write(w));
    end(w);
    mst_store_release(store);
}

/* ---- visitors without end ---- */

static void *write_once(void *context) {
    guest *g = context;
    return mst_turn_write(&g->turn, mst_clock_after(30)) ? g : NULL;
}

/* A writer that waits for a visitor alone is before the visitors to come; one that waits for a step is not, because
 * that step may be stuck. */
static void visitors_do_not_hold_up_a_writer_for_ever(void **state) {
    (void)state;
    mst_store *store = new_store();
    for (int slow = 0; slow < 2; slow++) {
        guest *step = slow ? take(store, "a") : NULL;
        guest *first = visit(store, "a"), *w = take(store, "A");
        pthread_t thread;
        void *failed;
        assert_true(may_begin(first) && may_begin(w));
        assert_int_equal(pthread_create(&thread, NULL, write_once, w), 0);
        bool waits = false;
        for (int i = 0; i < 10000 && !waits; i++) {
            pthread_mutex_lock(&store->order_lock);
            waits = w->turn.wants_to_write;
            pthread_mutex_unlock(&store->order_lock);
            usleep(1000);
        }
        assert_true(waits);
        guest *next = visit(store, "a");
        assert_true(may_begin(next) == (slow == 1));
        if (slow) end(next);
        if (slow) end(step);
        end(first);
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        end(w);
        if (!slow) assert_true(may_begin(next));
        if (!slow) end(next);
    }
    mst_store_release(store);
}

/* ---- any order of events: against the rule itself ---- */

enum { EVENTS = 20000 };

/* Whether B must wait for A, which is before it, to read (or TO_WRITE) an entry. */
static bool is_in_the_way(const guest *a, const guest *b, bool to_write) {
    for (int64_t i = 0; i < a->turn.num_uses; i++)
        for (int64_t k = 0; k < b->turn.num_uses; k++)
            if (a->use[i].state == b->use[k].state && (a->use[i].writes || (to_write && b->use[k].writes))) return true;
    return false;
}

static bool is_free(guest *const *guests, int count, const guest *who, bool to_write) {
    for (int i = 0; i < count; i++) {
        const guest *other = guests[i];
        if (other == who) continue;
        if (who->turn.visits ? other->writes && is_in_the_way(other, who, false)
                             : other->place < who->place && is_in_the_way(other, who, to_write))
            return false;
    }
    return true;
}

static void ask(guest *const *guests, int count, guest *who) {
    if (who->writes) return;
    const bool to_write = who->began && who->is_writer;
    const bool wanted = is_free(guests, count, who, to_write);
    const bool may = to_write ? may_write(who) : who->began || may_begin(who);
    if (may != wanted) fail_msg("a turn %s", may ? "went on while another was in its way" : "waits for nobody");
    if (may && to_write)
        who->writes = true;
    else if (may)
        who->began = true;
}

static guest *come(mst_store *store, uint32_t random, int64_t place) {
    char what[ENTRIES + 1] = "";
    const bool visits = random % 5 == 0;
    bool is_writer = false;
    for (int i = 0, n = 0; i < ENTRIES; i++) {
        const unsigned bits = random >> (8 + 3 * i) & 7;
        if (bits > 3) continue;
        const bool writes = bits == 0 && !visits;
        what[n++] = (char)((writes ? 'A' : 'a') + i);
        is_writer |= writes;
    }
    guest *g = visits ? visit(store, what) : take(store, what);
    g->place = visits ? -1 : place;
    g->is_writer = is_writer;
    return g;
}

/* Nobody writes an entry that somebody else reads. */
static void expect_apart(guest *const *guests, int count, int event) {
    for (int k = 0; k < count; k++)
        for (int l = 0; l < count; l++)
            if (k != l && guests[k]->writes && guests[l]->began && is_in_the_way(guests[k], guests[l], false))
                fail_msg("event %d: one writes while another one reads", event);
}

static void random_turns_never_use_an_entry_against_each_other(void **state) {
    (void)state;
    mst_store *store = new_store();
    guest *guests[MOST_TURNS];
    int count = 0;
    int64_t places = 0;
    uint32_t random = 12345;
    for (int i = 0; i < EVENTS; i++) {
        random = random * 1664525u + 1013904223u;
        const unsigned event = random >> 29;
        if (count == 0 || (event < 2 && count < MOST_TURNS)) {
            guests[count++] = come(store, (random ^ random >> 15) * 2654435761u >> 3, places++);
            continue;
        }
        guest **who = &guests[(random >> 8) % (unsigned)count];
        if (event < 6) {
            ask(guests, count, *who);
        } else {
            end(*who);
            *who = guests[--count];
        }
        expect_apart(guests, count, i);
    }
    while (count) end(guests[--count]);
    guest *last = take(store, "ABCDE");
    assert_true(may_begin(last) && may_write(last));
    end(last);
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
        mst_turn turn = {.store = NULL};
        mst_use use[2] = {{.state = entry(p->store, 0)}, {.state = entry(p->store, 1), .writes = i % 3 == 0}};
        if (i % 5 == 1)
            mst_turn_visit(p->store, use, 2, &turn);
        else
            mst_turn_take(p->store, use, 2, &turn);
        if (i % 9 == 3) { /* gives up */
            mst_turn_drop_writes(&turn);
            mst_turn_end(&turn);
            continue;
        }
        if (mst_turn_begin(&turn, MST_NEVER)) return p;
        p->torn += p->a != p->b;
        if (i % 9 == 0 && i % 5 != 1) {
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
    int64_t writes = 0;
    for (int i = 0; i < ROUNDS; i++) writes += i % 9 == 0 && i % 5 != 1;
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, use_pair, &p), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(p.torn, 0);
    assert_int_equal(p.a, THREADS * writes);
    mst_store_release(p.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_share_and_a_writer_waits_for_those_before_it),
        cmocka_unit_test(writers_begin_one_after_the_other),
        cmocka_unit_test(turns_that_share_no_entry_run_side_by_side),
        cmocka_unit_test(writer_that_gives_up_before_its_turn_holds_up_nobody),
        cmocka_unit_test(writer_after_one_that_did_not_write_waits_for_the_readers_before_both),
        cmocka_unit_test(writer_that_drops_its_writes_holds_up_writers_alone),
        cmocka_unit_test(visitors_wait_for_writers_only),
        cmocka_unit_test(visitors_do_not_hold_up_a_writer_for_ever),
        cmocka_unit_test(random_turns_never_use_an_entry_against_each_other),
        cmocka_unit_test(threads_see_a_pair_as_the_turns_before_left_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
