/* A session that cannot allocate one of its aligned blocks of memory returns an error, and frees all that it has
 * allocated. */
#include "support/test.h"

static int64_t left = -1, outstanding; /* allocations that succeed, negative: all; blocks that are not freed */

enum { MOST = 4096 };
static void *block[MOST];

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *data);
void __wrap_free(void *data);

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    if (left >= 0 && left-- == 0) return NULL; /* and those after it are there again */
    void *data = __real_aligned_alloc(alignment, size);
    for (int i = 0; i < MOST && data; i++) {
        if (block[i]) continue;
        block[i] = data;
        outstanding++;
        break;
    }
    return data;
}

void __wrap_free(void *data) {
    for (int i = 0; i < MOST && data; i++) {
        if (block[i] != data) continue;
        block[i] = NULL;
        outstanding--;
        break;
    }
    __real_free(data);
}

static mst_status create_and_destroy(void) {
    mst_graph *g = engine_graph();
    mst_session *session = NULL;
    const mst_session_options options = {.devices = "cpu:1/1"};
    const mst_status status = mst_session_create(g, &options, &session);
    left = -1;
    if (session) mst_session_destroy(session);
    mst_graph_destroy(g);
    return status;
}

static void failed_session_gives_all_back(void **state) {
    (void)state;
    assert_int_equal(create_and_destroy(), MST_OK); /* what the process keeps is there now */
    const int64_t before = outstanding;
    int failures = 0;
    for (int64_t n = 0; n < 30; n++) {
        left = n;
        const mst_status status = create_and_destroy();
        assert_true(status == MST_OK || status == MST_OUT_OF_MEMORY);
        failures += status != MST_OK;
        if (outstanding != before) fail_msg("without allocation %d, %d stay", (int)n, (int)(outstanding - before));
    }
    assert_true(failures >= 2); /* the lines and the workers of an executor */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(failed_session_gives_all_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
