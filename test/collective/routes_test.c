/* Routes of an exchange: what one member sends is what another one receives, and the number of messages of a member
 * stays small for any number of members. The test only computes routes; nothing is sent. */
#include "collective/routes.h"

#include "support/members.h"
#include "support/test.h"

enum { MOST = 1024, UNIT = 64 };

typedef struct network {
    int32_t count, num_shards;
    mst_shards window[MOST];
    mst_stages stages;
    mst_routes *of; /* [count] */
} network;

static void open_network(network *w, int32_t count, int32_t num_shards, unsigned seed, int64_t units, bool at_once) {
    *w = (network){.count = count, .num_shards = num_shards, .of = calloc((size_t)count, sizeof *w->of)};
    cut_windows(w->window, count, num_shards, seed);
    EXPECT_OK(mst_stages_make(w->window, count, num_shards, &w->stages));
    for (int32_t i = 0; i < count; i++) EXPECT_OK(mst_routes_make(&w->stages, i, UNIT * units, at_once, &w->of[i]));
}

static void close_network(network *w) {
    for (int32_t i = 0; i < w->count; i++) mst_routes_free(&w->of[i]);
    mst_stages_free(&w->stages);
    free(w->of);
}

static int64_t bytes_of(const mst_routes *r, const mst_route_out *out) {
    int64_t bytes = 0;
    for (int32_t k = 0; k < out->num_pieces; k++) bytes += r->piece[out->first_piece + k].bytes;
    return bytes;
}

/* The message that member TO receives from FROM by the number of OUT. */
static void expect_received(const network *w, int32_t from, const mst_route_out *out) {
    const mst_routes *r = &w->of[out->member];
    int found = 0;
    for (int32_t i = 0; i < r->num_ins; i++) {
        if (r->in[i].member != from || r->in[i].serial != out->serial) continue;
        assert_int_equal(r->in[i].bytes, bytes_of(&w->of[from], out));
        found++;
    }
    assert_int_equal(found, 1);
}

static void what_one_sends_the_other_receives(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int32_t count = 1; count <= 70; count += 1 + count / 12)
        for (unsigned seed = 0; seed < 4; seed++) {
            network w;
            int64_t ins = 0, outs = 0;
            open_network(&w, count, count + (int32_t)(next_random(&random) % 90), seed, 1 + next_random(&random) % 300,
                         seed == 3 && count <= MST_FEW_MEMBERS);
            for (int32_t i = 0; i < count; i++) {
                ins += w.of[i].num_ins;
                outs += w.of[i].num_outs;
                for (int32_t k = 0; k < w.of[i].num_outs; k++) expect_received(&w, i, &w.of[i].out[k]);
            }
            assert_int_equal(ins, outs);
            close_network(&w);
        }
}

/* Messages grow as three times the logarithm; memory, in which nothing is used twice, is a few leaves more than a
 * member has. */
static void few_messages_and_little_memory_for_any_number_of_members(void **state) {
    (void)state;
    for (int32_t count = 9, levels = 4; count <= MOST; count = 2 * count - 1, levels++)
        for (unsigned seed = 0; seed < 3; seed++) {
            network w;
            open_network(&w, count, 5 * count, seed, 5000, false);
            for (int32_t i = 0; i < count; i++) {
                const mst_routes *r = &w.of[i];
                const int32_t leaves = mst_window_leaves(w.window[i], w.num_shards, NULL);
                assert_in_range(r->num_outs, 1, 3 * levels);
                assert_in_range(r->memory, 1, (leaves + 8) * r->size);
                for (int32_t k = 0; k < r->num_outs; k++) assert_in_range(r->out[k].serial, 0, 63);
            }
            close_network(&w);
        }
}

/* No two messages are received into the same memory, and none into a leaf. */
static void no_byte_is_received_twice(void **state) {
    (void)state;
    for (int32_t count = 2; count <= 40; count++) {
        network w;
        open_network(&w, count, count + count / 3, (unsigned)count, 100, false);
        for (int32_t i = 0; i < count; i++) {
            const mst_routes *r = &w.of[i];
            const int64_t leaves = mst_window_leaves(w.window[i], w.num_shards, NULL) * r->size;
            char *written = calloc((size_t)r->memory / UNIT, 1);
            for (int32_t k = 0; k < r->num_ins; k++)
                for (int64_t at = r->in[k].at; at < r->in[k].at + r->in[k].bytes; at += UNIT) written[at / UNIT]++;
            for (int32_t k = 0; k < r->num_sums; k++)
                for (int64_t at = r->sum[k].at; at < r->sum[k].at + r->sum[k].bytes; at += UNIT) written[at / UNIT]++;
            for (int64_t at = 0; at < r->memory; at += UNIT) assert_int_equal(written[at / UNIT], at >= leaves);
            free(written);
        }
        close_network(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_sends_the_other_receives),
        cmocka_unit_test(few_messages_and_little_memory_for_any_number_of_members),
        cmocka_unit_test(no_byte_is_received_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
