/* Device names: reading, printing, merging of scopes, and mistakes. */
#include "support/test.h"

#include "graph/device_name.h"

static const char *printed(const char *name) {
    static char text[MST_DEVICE_TEXT];
    mst_device_name parsed;
    EXPECT_OK(mst_device_name_parse(name, &parsed));
    return mst_device_name_print(&parsed, text);
}

static void all_forms_are_read(void **state) {
    (void)state;
    static const char *const forms[][2] = {
        {"", ""},
        {"/job:worker/replica:0/task:1/device:GPU:0", "/job:worker/replica:0/task:1/device:GPU:0"},
        {"/cpu:0", "/device:CPU:0"},
        {"/gpu:1", "/device:GPU:1"},
        {"gpu:1", "/device:GPU:1"},
        {"/device:gpu:12", "/device:GPU:12"},
        {"/gpu", "/device:GPU"},
        {"/gpu:*", "/device:GPU"},
        {"/device:CPU:*", "/device:CPU"},
        {"/job:ps/task:0", "/job:ps/task:0"},
        {"/job:ps/task:0/cpu:0", "/job:ps/task:0/device:CPU:0"},
        {"/task:3/job:my_job-2", "/job:my_job-2/task:3"},
        {"/replica:4", "/replica:4"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) assert_string_equal(printed(forms[i][0]), forms[i][1]);
}

static void types_and_keys_are_not_case_sensitive_but_jobs_are(void **state) {
    (void)state;
    assert_string_equal(printed("/CPU:0"), "/device:CPU:0");
    assert_string_equal(printed("/Gpu:2"), "/device:GPU:2");
    assert_string_equal(printed("/DEVICE:cpu:0"), "/device:CPU:0");
    assert_string_equal(printed("/JOB:Ps/TASK:1"), "/job:Ps/task:1");
}

static void bad_names_are_refused_with_the_right_form(void **state) {
    (void)state;
    static const char *const bad[] = {"/",     "/gpu:",   "/gpu:one", "/gpu:-1",         "/gpu:1:2", "/:0",
                                      "/job:", "/task:x", "/task:",   "/replica:0.5",    "/gp u:0",  "/job:a b",
                                      "//",    "foo",     "/foo",     "/gpu:99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mst_device_name name;
        EXPECT_ERROR(mst_device_name_parse(bad[i], &name), MST_INVALID, "write it like /gpu:0");
        EXPECT_ERROR(mst_device_name_parse(bad[i], &name), MST_INVALID, bad[i]);
    }
    char longer[2 * MST_DEVICE_TEXT] = "/job:";
    memset(longer + 5, 'a', sizeof longer - 6);
    mst_device_name name;
    assert_int_equal(mst_device_name_parse(longer, &name), MST_INVALID);
}

static void inner_fields_replace_outer_ones(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"/job:ps/task:1/gpu:1", "", "/job:ps/task:1/device:GPU:1"},
        {"", "/gpu:1", "/device:GPU:1"},
        {"/job:ps/task:1", "/gpu:1", "/job:ps/task:1/device:GPU:1"},
        {"/job:ps/task:1", "/job:worker", "/job:worker/task:1"},
        {"/gpu:1", "/cpu:0", "/device:CPU:0"},
        {"/gpu:1", "/cpu", "/device:CPU"}, /* the index was the GPU's */
        {"/gpu:1", "/task:2", "/task:2/device:GPU:1"},
        {"/cpu:1", "/cpu:*", "/device:CPU:1"}, /* an open index says nothing of the same type */
        {"/cpu:1", "/cpu", "/device:CPU:1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_device_name outer, inner;
        char text[MST_DEVICE_TEXT];
        EXPECT_OK(mst_device_name_parse(cases[i][0], &outer));
        EXPECT_OK(mst_device_name_parse(cases[i][1], &inner));
        mst_device_name_merge(&outer, &inner);
        assert_string_equal(mst_device_name_print(&outer, text), cases[i][2]);
    }
}

static void open_fields_are_taken_from_the_defaults(void **state) {
    (void)state;
    mst_device_name defaults, name;
    char text[MST_DEVICE_TEXT];
    EXPECT_OK(mst_device_name_parse("/job:localhost/replica:0/task:0/device:CPU:0", &defaults));
    EXPECT_OK(mst_device_name_parse("/gpu", &name));
    mst_device_name_fill(&name, &defaults);
    assert_string_equal(mst_device_name_print(&name, text), "/job:localhost/replica:0/task:0/device:GPU:0");
    EXPECT_OK(mst_device_name_parse("", &name));
    mst_device_name_fill(&name, &defaults);
    assert_string_equal(mst_device_name_print(&name, text), "/job:localhost/replica:0/task:0/device:CPU:0");
}

static void job_without_a_task_is_its_task_0(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"/cpu:1", "/job:worker/replica:0/task:2/device:CPU:1"},
        {"/task:1", "/job:worker/replica:0/task:1/device:CPU:0"},
        {"/job:worker", "/job:worker/replica:0/task:0/device:CPU:0"},
        {"/job:ps", "/job:ps/replica:0/task:0/device:CPU:0"},
        {"/job:ps/task:3/cpu:1", "/job:ps/replica:0/task:3/device:CPU:1"},
    };
    mst_device_name defaults, name;
    char text[MST_DEVICE_TEXT];
    EXPECT_OK(mst_device_name_parse("/job:worker/replica:0/task:2/device:CPU:0", &defaults));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EXPECT_OK(mst_device_name_parse(cases[i][0], &name));
        mst_device_name_fill(&name, &defaults);
        assert_string_equal(mst_device_name_print(&name, text), cases[i][1]);
    }
}

static void tasks_have_names(void **state) {
    (void)state;
    mst_device_name name;
    char text[MST_DEVICE_TEXT];
    EXPECT_OK(mst_device_name_of_task("my_job-2", MST_MOST_TASK, &name));
    assert_string_equal(mst_device_name_print(&name, text), "/job:my_job-2/replica:0/task:1000000");
    EXPECT_ERROR(mst_device_name_of_task("a b", 0, &name), MST_INVALID, "job 'a b': a name has 1 to 47 letters");
    EXPECT_ERROR(mst_device_name_of_task("", 0, &name), MST_INVALID, "job '': a name has");
    EXPECT_ERROR(mst_device_name_of_task("ps", -1, &name), MST_INVALID,
                 "task -1 of job 'ps': tasks are counted from 0");
    EXPECT_ERROR(mst_device_name_of_task("ps", MST_MOST_TASK + 1, &name), MST_INVALID, "to at most 1000000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_are_read),
        cmocka_unit_test(types_and_keys_are_not_case_sensitive_but_jobs_are),
        cmocka_unit_test(bad_names_are_refused_with_the_right_form),
        cmocka_unit_test(inner_fields_replace_outer_ones),
        cmocka_unit_test(open_fields_are_taken_from_the_defaults),
        cmocka_unit_test(job_without_a_task_is_its_task_0),
        cmocka_unit_test(tasks_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
