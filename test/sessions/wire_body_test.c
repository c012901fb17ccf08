/* Bodies of the messages of sessions: what is written is read back, and truncated or changed bodies are refused. */
#include "sessions/wire_body.h"

#include <stdlib.h>

#include "sessions/session_message.h"
#include "support/engine.h"
#include "support/test.h"

static void put_all(mst_wire_writer *w, mst_tensor *const *tensor, int count) {
    static const mst_device_description device[] = {{"/job:a/replica:0/task:0/device:CPU:0", 0, false},
                                                    {"/job:a/replica:0/task:0/device:CPU:1", 3, true}};
    const mst_failure failure = {.code = MST_IO, .message = "the disk\x1b is gone", .node = "n", .device = "/cpu:0"};
    mst_open_message_put(w, &(mst_open_message){.first = 1,
                                                .logs = true,
                                                .plans = true,
                                                .plan_pass = "memory",
                                                .timeout = 2.5,
                                                .graph = "graph",
                                                .graph_bytes = 5});
    mst_task_devices_put(w, &(mst_task_devices){2, device});
    mst_wire_put_failure(w, &failure);
    mst_wire_put_failure(w, &(mst_failure){.code = MST_OK});
    mst_wire_put_number(w, (uint64_t)count + 1);
    for (int i = 0; i < count; i++) mst_wire_put_optional(w, tensor[i]);
    mst_wire_put_optional(w, NULL);
    assert_false(w->failed);
}

static mst_status get_all(const char *data, size_t bytes, mst_tensor ***tensor, int32_t *count) {
    mst_wire_reader r = {.at = data, .left = bytes};
    mst_open_message open;
    mst_task_devices devices;
    mst_failure failure, none;
    mst_open_message_get(&r, 2, &open);
    mst_task_devices_get(&r, &devices);
    mst_wire_get_failure(&r, &failure);
    mst_wire_get_failure(&r, &none);
    *tensor = mst_tensors_get(&r, count);
    const mst_status status = mst_wire_check_read(&r, "the test");
    if (!status) {
        assert_int_equal(open.first, 1);
        assert_true(open.plans);
        assert_string_equal(open.plan_pass, "memory");
        assert_true(open.logs && !open.soft_placement && open.timeout == 2.5);
        assert_memory_equal(open.graph, "graph", 5);
        assert_string_equal(devices.device[1].name, "/job:a/replica:0/task:0/device:CPU:1");
        assert_int_equal(devices.device[1].domain, 3);
        assert_true(!devices.device[0].added && devices.device[1].added);
        assert_string_equal(failure.message, "the disk? is gone");
        assert_int_equal(none.code, MST_OK);
    }
    free((void *)(uintptr_t)devices.device);
    return status;
}

static void what_is_written_is_read_and_what_is_cut_off_is_refused(void **state) {
    (void)state;
    mst_tensor *tensor[MST_NUM_DTYPES], **read;
    int count = 0;
    int32_t num_read;
    mst_wire_writer w = {0};
    for (int dtype = MST_NO_DTYPE + 1; dtype < MST_NUM_DTYPES; dtype++, count++) {
        EXPECT_OK(mst_tensor_create((mst_dtype)dtype, MST_SHAPE(3, 2), &tensor[count]));
        for (int64_t i = 0; i < 6; i++) engine_set(tensor[count], i, (double)(i % 2));
    }
    put_all(&w, tensor, count);
    EXPECT_OK(get_all(w.data, w.size, &read, &num_read));
    assert_int_equal(num_read, count + 1);
    for (int i = 0; i < count; i++) assert_true(engine_same_bits(read[i], tensor[i]));
    assert_null(read[count]);
    mst_tensors_free(read, num_read);
    for (size_t bytes = 0; bytes < w.size; bytes++) {
        char *cut = malloc(bytes + 1); /* of this size: an address sanitizer sees what is read past its end */
        memcpy(cut, w.data, bytes);
        const mst_status status = get_all(cut, bytes, &read, &num_read);
        assert_int_equal(status, MST_CORRUPT);
        mst_tensors_free(read, num_read);
        free(cut);
    }
    for (int i = 0; i < count; i++) mst_tensor_release(tensor[i]);
    mst_wire_free(&w);
}

static void lengths_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const uint64_t wrong[] = {UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63, 1 << 20, 9};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mst_wire_writer w = {0};
        size_t bytes;
        mst_wire_put_number(&w, wrong[i]);
        mst_wire_put_number(&w, 0);
        mst_wire_reader r = {.at = w.data, .left = w.size};
        assert_null(mst_wire_get_bytes(&r, &bytes));
        assert_int_equal(mst_wire_check_read(&r, "the test"), MST_CORRUPT);
        r = (mst_wire_reader){.at = w.data, .left = w.size};
        assert_int_equal(mst_wire_get_count(&r, 8), 0);
        assert_int_equal(mst_wire_check_read(&r, "the test"), MST_CORRUPT);
        r = (mst_wire_reader){.at = w.data, .left = w.size};
        assert_string_equal(mst_wire_get_text(&r), "");
        mst_wire_free(&w);
    }
}

static void target_is_the_first_of_the_tasks(void **state) {
    (void)state;
    for (int32_t first = 0; first < 4; first++) {
        assert_int_equal(mst_session_task_at(first, 0), first);
        for (int32_t place = 0; place < 4; place++)
            assert_int_equal(mst_session_place_of(first, mst_session_task_at(first, place)), place);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_and_what_is_cut_off_is_refused),
        cmocka_unit_test(lengths_that_cannot_be_are_refused),
        cmocka_unit_test(target_is_the_first_of_the_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
