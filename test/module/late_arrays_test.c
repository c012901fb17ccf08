/* The memory and the threads of test devices that compile (support/late_arrays.h), without the device types that use
 * them. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "muster/device.h"
#include "run/backend.h"
#include "support/folder.h"
#include "support/late_arrays.h"
#include "support/test.h"

enum { DEVICES = 2, BYTES = 1024 };

static const double PATIENCE = 60, MOMENT = 0.05; /* seconds: for what will end, and for what does not */

static const mst_registrar registrar = {.size = sizeof registrar,
                                        .error_set = mst_error_set,
                                        .unbind_thread = mst_unbind_thread,
                                        .services = &mst_backend_services_here};

static mst_domain *domain[DEVICES];
static char *memory[DEVICES];

static int begin(void **state) {
    (void)state;
    late_arrays_begin("late", &registrar);
    for (int d = 0; d < DEVICES; d++) {
        void *data;
        if (late_arrays_domain(d, &domain[d]) || domain[d]->type->alloc(domain[d], BYTES, &data)) return 1;
        memory[d] = data;
    }
    return 0;
}

static int end(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) domain[d]->type->free(domain[d], memory[d], BYTES);
    return 0;
}

static mst_array floats_at(const void *data, int64_t count) {
    return (mst_array){(void *)(uintptr_t)data, count, MST_F32, MST_SHAPE(count)};
}

static mst_status copy(mst_domain *to, mst_array dst, mst_domain *from, mst_array src, double seconds) {
    return mst_domain_copy_array(to, &dst, from, &src, mst_clock_after(seconds));
}

static void put(int d, int64_t place, const float *data, int64_t count) {
    EXPECT_OK(copy(domain[d], floats_at(memory[d] + place, count), &mst_domain_host, floats_at(data, count), 0));
}

/* Whether there is an array of COUNT floats, by that address and no other. */
static bool is_there(int d, int64_t place, int64_t count) {
    late_array *x = late_array_at(domain[d], memory[d] + place);
    const bool found = x && x->array.type == HLO_F32 && x->array.count == count;
    late_array_release(x);
    return found;
}

static const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};

/* ---- arrays ---- */

static void domain_of_an_index_is_always_the_same(void **state) {
    (void)state;
    mst_domain *again;
    assert_ptr_not_equal(domain[0], domain[1]);
    for (int d = 0; d < DEVICES; d++) {
        EXPECT_OK(late_arrays_domain(d, &again));
        assert_ptr_equal(again, domain[d]);
        assert_string_equal(again->type->name, "late");
    }
}

static void array_is_found_by_its_first_address_only(void **state) {
    (void)state;
    put(0, 64, numbers, 4);
    assert_true(is_there(0, 64, 4));
    assert_false(is_there(0, 68, 3));
    assert_false(is_there(0, 0, 4));
    assert_null(late_array_at(domain[1], memory[0] + 64));
}

static void array_takes_the_place_of_all_whose_bytes_it_covers(void **state) {
    (void)state;
    put(0, 0, numbers, 4);
    put(0, 16, numbers, 4);
    put(0, 32, numbers, 4);
    put(0, 12, numbers, 2); /* 12 to 20: the last of the first, and the first of the second */
    assert_false(is_there(0, 0, 4));
    assert_true(is_there(0, 12, 2));
    assert_false(is_there(0, 16, 4));
    assert_true(is_there(0, 32, 4));
    put(0, 0, numbers, 8); /* up to 32, where another begins */
    assert_true(is_there(0, 0, 8));
    assert_false(is_there(0, 12, 2));
    assert_true(is_there(0, 32, 4));
    put(0, 36, numbers, 1);
    assert_false(is_there(0, 32, 4));
}

static void array_without_elements_has_a_name(void **state) {
    (void)state;
    put(0, 128, NULL, 0);
    assert_true(is_there(0, 128, 0));
    put(0, 64, numbers, 8);
    put(0, 160, numbers, 8);
    assert_true(is_there(0, 128, 0));
    put(0, 120, numbers, 4);
    assert_false(is_there(0, 128, 0));
}

static void memory_that_is_given_back_holds_no_arrays(void **state) {
    (void)state;
    void *data;
    float got[2];
    EXPECT_OK(domain[0]->type->alloc(domain[0], sizeof got, &data));
    EXPECT_OK(copy(domain[0], floats_at(data, 2), &mst_domain_host, floats_at(numbers, 2), 0));
    EXPECT_OK(copy(domain[1], floats_at(memory[1], 2), domain[0], floats_at(data, 2), 0));
    domain[0]->type->free(domain[0], data, sizeof got); /* the copy may not have begun */
    assert_null(late_array_at(domain[0], data));
    EXPECT_OK(copy(&mst_domain_host, floats_at(got, 2), domain[1], floats_at(memory[1], 2), PATIENCE));
    assert_memory_equal(got, numbers, sizeof got);
}

static void memory_of_the_host_may_change_after_a_copy(void **state) {
    (void)state;
    float from[] = {1, 2}, got[2];
    put(0, 0, from, 2);
    from[0] = from[1] = 0;
    EXPECT_OK(copy(&mst_domain_host, floats_at(got, 2), domain[0], floats_at(memory[0], 2), 0));
    assert_memory_equal(got, numbers, sizeof got);
}

/* ---- what is refused ---- */

static void copies_of_parts_are_refused(void **state) {
    (void)state;
    float got[8];
    put(0, 0, numbers, 8);
    const mst_array here = floats_at(got, 4), there = floats_at(memory[0], 4);
    EXPECT_ERROR(copy(&mst_domain_host, here, domain[0], there, 0), MST_INTERNAL, "a copy of a part of an array");
    mst_array integers = floats_at(memory[0], 8);
    integers.dtype = MST_I32;
    EXPECT_ERROR(copy(&mst_domain_host, integers, domain[0], integers, 0), MST_INTERNAL, "of a part of an array");
    EXPECT_ERROR(copy(domain[1], floats_at(memory[1], 4), domain[0], there, 0), MST_INTERNAL, "of a part of an array");
    mst_array counted = floats_at(memory[0], 8);
    counted.count = 3; /* the first 3 are in use */
    EXPECT_ERROR(copy(&mst_domain_host, counted, domain[0], counted, 0), MST_INTERNAL,
                 "an array of 3 elements is no whole array of its shape");
    EXPECT_ERROR(copy(domain[0], floats_at(memory[0], 8), &mst_domain_host, here, 0), MST_INTERNAL,
                 "a copy of a part of an array");
    EXPECT_ERROR(copy(&mst_domain_host, here, domain[0], floats_at(memory[0] + 16, 4), 0), MST_INTERNAL,
                 "there is no array at the address of a copy");
    assert_true(is_there(0, 0, 8));
}

static void strings_are_refused(void **state) {
    (void)state;
    mst_array strings = floats_at(memory[0], 2);
    strings.dtype = MST_STRING;
    EXPECT_ERROR(copy(domain[0], strings, &mst_domain_host, strings, 0), MST_INTERNAL, "no whole array of its shape");
}

/* ---- jobs ---- */

/* A job that adds 1 to each number of its argument. */
typedef struct job {
    late_job base; /* first: it is its job */
    bool fails;
    const char *hold; /* it does not end while there is this file; NULL: no file is meant */
    int *order;       /* the number of jobs that have ended, or NULL */
    int wanted;       /* that number when this one ends */
} job;

static int freed;

static void add_one(late_job *base, late_error *error) {
    const job *j = (job *)base;
    if (j->hold) late_while_file(j->hold);
    if (j->order && (*j->order)++ != j->wanted)
        *error = (late_error){.status = MST_INTERNAL, .node = base->node, .message = "out of order"};
    if (j->fails) {
        *error = (late_error){.status = MST_UNAVAILABLE, .node = base->node};
        snprintf(error->message, sizeof error->message, "job %d failed", (int)base->node);
    }
    if (error->status || !base->num_args) return;
    const hlo_array *from = &base->arg[0]->array;
    float *to = malloc((size_t)from->count * sizeof *to);
    assert_non_null(to);
    for (int64_t i = 0; to && i < from->count; i++) to[i] = ((const float *)from->data)[i] + 1;
    base->result[0]->array.data = to;
}

static void free_job(late_job *base) {
    freed++;
    free(base);
}

/* Job NUMBER of device D, from its array at PLACE to that place of device TO; PLACE -1: from nothing to nothing. */
static job *make_job(late_group *group, int number, int d, int64_t place, int to) {
    job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->base = (late_job){.run = add_one, .free = free_job, .group = group, .node = number};
    if (place < 0) return j;
    j->base.arg = malloc(sizeof *j->base.arg);
    j->base.result = malloc(sizeof *j->base.result);
    assert_non_null(j->base.arg);
    assert_non_null(j->base.result);
    j->base.num_args = j->base.num_results = 1;
    j->base.arg[0] = late_array_at(domain[d], memory[d] + place);
    assert_non_null(j->base.arg[0]);
    j->base.result[0] = late_array_make(&j->base.arg[0]->array);
    assert_non_null(j->base.result[0]);
    EXPECT_OK(late_array_put(domain[to], memory[to] + place, sizeof numbers, j->base.result[0]));
    return j;
}

static mst_status wait_for(late_group *group, double seconds, late_error *out) {
    return late_wait(group, mst_clock_after(seconds), out);
}

static void jobs_of_a_device_are_done_in_their_order(void **state) {
    (void)state;
    enum { JOBS = 20 };
    late_group group = {0};
    late_error error;
    int order = 0;
    freed = 0;
    for (int i = 0; i < JOBS; i++) {
        job *j = make_job(&group, i, 0, -1, 0);
        j->order = &order;
        j->wanted = i;
        EXPECT_OK(late_start(domain[0], &j->base));
    }
    EXPECT_OK(wait_for(&group, PATIENCE, &error));
    assert_int_equal(error.status, MST_OK);
    assert_int_equal(order, JOBS);
    assert_int_equal(freed, JOBS);
}

/* Each of the devices makes the argument of the other, in the same memory. */
static void jobs_wait_for_arguments_of_other_devices(void **state) {
    (void)state;
    enum { JOBS = 10 };
    late_group group = {0};
    late_error error;
    float got[8];
    put(0, 0, numbers, 8);
    for (int i = 0; i < JOBS; i++)
        EXPECT_OK(late_start(domain[i % 2], &make_job(&group, i, i % 2, 0, 1 - i % 2)->base));
    EXPECT_OK(copy(&mst_domain_host, floats_at(got, 8), domain[0], floats_at(memory[0], 8), PATIENCE));
    for (int i = 0; i < 8; i++) assert_true(got[i] == numbers[i] + JOBS);
    EXPECT_OK(wait_for(&group, PATIENCE, &error));
    assert_int_equal(error.status, MST_OK);
}

/* Job 1 fails, so that 2 and 3, which need its result, cannot be done. */
static void error_of_a_job_is_that_of_all_that_need_its_result(void **state) {
    (void)state;
    late_group group = {0}, other = {0};
    late_error error;
    float got[8];
    put(0, 0, numbers, 8);
    for (int i = 0; i < 4; i++) {
        job *j = make_job(i == 3 ? &other : &group, i, i % 2, 0, 1 - i % 2);
        j->fails = i == 1;
        EXPECT_OK(late_start(domain[i % 2], &j->base));
    }
    EXPECT_OK(wait_for(&group, PATIENCE, &error));
    assert_int_equal(error.status, MST_UNAVAILABLE);
    assert_int_equal(error.node, 1);
    assert_string_equal(error.message, "job 1 failed");
    EXPECT_OK(wait_for(&other, PATIENCE, &error));
    assert_int_equal(error.node, 1);
    EXPECT_ERROR(copy(&mst_domain_host, floats_at(got, 8), domain[0], floats_at(memory[0], 8), PATIENCE),
                 MST_UNAVAILABLE, "job 1 failed");
}

static void waiting_ends_at_its_deadline_and_names_the_first_that_has_not_ended(void **state) {
    (void)state;
    late_group group = {0};
    late_error error;
    float got[8];
    put(0, 0, numbers, 8);
    for (int i = 0; i < 3; i++) {
        job *j = make_job(&group, i, 0, 0, 0);
        if (i == 1) j->hold = folder_write_text("hold", "");
        EXPECT_OK(late_start(domain[0], &j->base));
    }
    do assert_int_equal(wait_for(&group, MOMENT, &error), MST_DEADLINE);
    while (error.node < 1); /* job 0 has not ended */
    EXPECT_ERROR(wait_for(&group, MOMENT, &error), MST_DEADLINE, "waited too long for a program");
    assert_int_equal(error.node, 1);
    EXPECT_ERROR(copy(&mst_domain_host, floats_at(got, 8), domain[0], floats_at(memory[0], 8), MOMENT), MST_DEADLINE,
                 "waited too long for a value");
    assert_int_equal(unlink(folder_path("hold")), 0);
    EXPECT_OK(wait_for(&group, PATIENCE, &error));
    assert_int_equal(error.status, MST_OK);
    EXPECT_OK(copy(&mst_domain_host, floats_at(got, 8), domain[0], floats_at(memory[0], 8), 0));
    for (int i = 0; i < 8; i++) assert_true(got[i] == numbers[i] + 3);
}

#define TEST_OF_ARRAYS(function) cmocka_unit_test_setup_teardown(function, begin, end)

static int begin_in_folder(void **state) {
    return folder_create(state) || begin(state);
}

static int end_in_folder(void **state) {
    return end(state) | folder_remove(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_OF_ARRAYS(domain_of_an_index_is_always_the_same),
        TEST_OF_ARRAYS(array_is_found_by_its_first_address_only),
        TEST_OF_ARRAYS(array_takes_the_place_of_all_whose_bytes_it_covers),
        TEST_OF_ARRAYS(array_without_elements_has_a_name),
        TEST_OF_ARRAYS(memory_that_is_given_back_holds_no_arrays),
        TEST_OF_ARRAYS(memory_of_the_host_may_change_after_a_copy),
        TEST_OF_ARRAYS(copies_of_parts_are_refused),
        TEST_OF_ARRAYS(strings_are_refused),
        TEST_OF_ARRAYS(jobs_of_a_device_are_done_in_their_order),
        TEST_OF_ARRAYS(jobs_wait_for_arguments_of_other_devices),
        TEST_OF_ARRAYS(error_of_a_job_is_that_of_all_that_need_its_result),
        cmocka_unit_test_setup_teardown(waiting_ends_at_its_deadline_and_names_the_first_that_has_not_ended,
                                        begin_in_folder, end_in_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
