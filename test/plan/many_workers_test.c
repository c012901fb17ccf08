/* What a worker plans does not grow with the number of workers, from 2 to 4,096. The other workers do not exist: a
 * transport gives zeros for everything that is expected from them. */
#include <stdlib.h>
#include <string.h>

#include "run/session.h"
#include "support/engine.h"
#include "support/test.h"
#include "support/training.h"

/* ---- a transport to nobody ---- */

struct mst_transport {
    int64_t num_posts;
    size_t bytes;
};

static mst_status post(mst_transport *transport, int32_t from, mst_key key, void *into, size_t bytes,
                       mst_timeline *done) {
    (void)from;
    (void)key;
    transport->num_posts++;
    transport->bytes += bytes;
    memset(into, 0, bytes);
    mst_timeline_add(done, 1);
    return MST_OK;
}

static mst_status send(mst_transport *transport, int32_t to, mst_key key, const mst_iov *piece, int n,
                       mst_timeline *done) {
    (void)transport;
    (void)to;
    (void)key;
    (void)piece;
    (void)n;
    if (done) mst_timeline_add(done, 1);
    return MST_OK;
}

static void begin(mst_transport *transport, uint32_t generation) {
    (void)transport;
    (void)generation;
}

static void end(mst_transport *transport) {
    (void)transport;
}

static const mst_transport_type nobody = {
    .size = sizeof nobody, .name = "nobody", .begin = begin, .end = end, .post = post, .send = send};

/* ---- a worker among N ---- */

enum { PIXELS = 40, CLASSES = 7, MOST_WORKERS = 4096 };

typedef struct measured {
    mst_plan_info plan;
    int64_t session_bytes, posts;
    size_t posted_bytes;
} measured;

static mst_task_group *make_group(mst_transport *transport, int32_t workers, int32_t self) {
    mst_shards *window = calloc((size_t)workers, sizeof *window);
    int32_t *task = calloc((size_t)workers, sizeof *task);
    mst_task_group *group;
    for (int32_t i = 0; i < workers; i++) window[i] = (mst_shards){i, 1}, task[i] = i;
    EXPECT_OK(mst_group_create(&(mst_group_options){.type = &nobody,
                                                    .transport = transport,
                                                    .num_members = workers,
                                                    .self = self,
                                                    .task = task,
                                                    .num_shards = workers,
                                                    .window = window},
                               &group));
    free(window);
    free(task);
    return group;
}

/* One step, which the zeros of the others spoil: its plan is what is looked at. */
static measured plan_one_of(int32_t workers) {
    mst_transport transport = {0};
    mst_task_group *group = make_group(&transport, workers, workers / 2);
    mst_dataset *data = training_data(workers, PIXELS, CLASSES, 3);
    mst_model *model = training_model(PIXELS, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01),
                          .strategy = {.kind = MST_STRATEGY_MIRRORED,
                                       .num_shards = workers,
                                       .first_shard = workers / 2,
                                       .num_shards_here = 1},
                          .session = {.devices = "cpu:1/1", .timeout = 20}));
    mst_session_join(mst_model_session(model), group);
    mst_group_begin(group, 1);
    (void)!mst_fit(model, .data = data, .batch_size = workers, .steps = 1);
    const mst_session *session = mst_model_session(model);
    const measured m = {mst_session_plan_info(mst_model_session(model)), mst_session_device_memory(session, 0),
                        transport.num_posts, transport.bytes};
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_group_destroy(group);
    return m;
}

static void a_plan_does_not_grow_with_the_number_of_workers(void **state) {
    (void)state;
    const measured two = plan_one_of(2), many = plan_one_of(MOST_WORKERS);
    assert_true(two.plan.nodes > 0);
    assert_int_equal(many.plan.nodes, two.plan.nodes);
    assert_int_equal(many.plan.plan_bytes, two.plan.plan_bytes);
    assert_int_equal(many.plan.arena_bytes, two.plan.arena_bytes);
    assert_int_equal(many.session_bytes, two.session_bytes);
    /* messages of a step: some for each of 12 halvings; each half as large as the one before */
    assert_true(two.posts > 0 && many.posts <= 12 * two.posts);
    assert_true(many.posted_bytes <= 3 * two.posted_bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_plan_does_not_grow_with_the_number_of_workers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
