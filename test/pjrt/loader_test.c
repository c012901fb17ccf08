/* The errors if no device of a plugin can be made: no plugin, several plugins, a file that is not a plugin, and
 * plugins that cannot be used (fake_plugin.c). */
#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"
#include "module/module.h"
#include "support/folder.h"
#include "support/test.h"

static void expect_refused(const char *plugin, mst_status status, const char *text) {
    mst_devices devices;
    setenv("MUSTER_PJRT_PLUGIN", plugin, true);
    for (int i = 0; i < 2; i++) EXPECT_ERROR(mst_devices_create("xla:2", NULL, 0, NULL, &devices), status, text);
}

static void module_loads_without_a_plugin(void **state) {
    (void)state;
    static const char *const types[] = {"gpu", "TPU", "xla"};
    unsetenv("MUSTER_PJRT_PLUGIN");
    for (int i = 0; i < 3; i++) {
        const mst_device_type *type;
        EXPECT_OK(mst_module_for_device_type(types[i], 3, &type));
        assert_true(type->compiles);
        assert_ptr_equal(type, mst_device_type_find(types[i], 3));
    }
}

static void other_tasks_may_have_devices_that_cannot_be_made_here(void **state) {
    (void)state;
    mst_devices devices;
    unsetenv("MUSTER_PJRT_PLUGIN");
    EXPECT_OK(mst_devices_create("cpu:1", NULL, 0, NULL, &devices));
    const mst_device_description own = mst_device_describe(&devices, 0);
    const mst_device_description others[] = {{"/job:localhost/replica:0/task:1/device:GPU:0", 1, false},
                                             {"/job:localhost/replica:0/task:1/device:CPU:0", 0, true}};
    const mst_task_devices tasks[] = {{1, &own}, {2, others}};
    EXPECT_OK(mst_devices_join(&devices, tasks, 2, 0));
    assert_int_equal(devices.count, 3);
    assert_true(devices.device[1].type->compiles);
    mst_devices_free(&devices);
}

static void plugin_that_is_not_there(void **state) {
    (void)state;
    expect_refused("", MST_UNAVAILABLE, "devices of the type 'xla' need a plugin of PJRT: set MUSTER_PJRT_PLUGIN to");
    expect_refused("/nowhere/plugin.so", MST_UNAVAILABLE,
                   "MUSTER_PJRT_PLUGIN: '/nowhere/plugin.so': No such file or directory: name a plugin");
}

static void file_that_is_no_plugin(void **state) {
    (void)state;
    expect_refused(folder_write_text("text.so", "no library\n"), MST_UNAVAILABLE, "text.so: ");
    expect_refused(NOT_A_PLUGIN, MST_UNAVAILABLE, "is no plugin of PJRT: it has no function GetPjrtApi");
}

/* Writes the first SIZE bytes of FROM to the file NAME in the folder of the test, and returns its path. */
static const char *write_begin(const char *from, const char *name, size_t size) {
    const char *path = folder_path(name);
    char *data = malloc(size);
    FILE *in = fopen(from, "rb"), *out = fopen(path, "wb");
    assert_true(data && in && out);
    assert_int_equal(fread(data, 1, size, in), size);
    assert_int_equal(fwrite(data, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    fclose(in);
    free(data);
    return path;
}

static void plugin_that_is_cut_off(void **state) {
    (void)state;
    struct stat info;
    assert_int_equal(stat(FAKE_PLUGIN, &info), 0);
    expect_refused(write_begin(FAKE_PLUGIN, "half.so", (size_t)info.st_size / 4), MST_UNAVAILABLE,
                   "half.so': is cut off: it has ");
    expect_refused(write_begin(FAKE_PLUGIN, "head.so", 100), MST_UNAVAILABLE, "head.so': is cut off: it has 100 bytes");
}

static void plugins_that_cannot_be_used(void **state) {
    (void)state;
    static const struct {
        const char *fault;
        mst_status status;
        const char *text;
    } cases[] = {
        {"nothing", MST_UNAVAILABLE, "gives no table of the PJRT API"},
        {"older", MST_UNAVAILABLE, "has version 0.69 of the PJRT API, which is too old: use a plugin with 0.70 or"},
        {"newer", MST_UNAVAILABLE, "has version 1.70 of the PJRT API, which is too new: use a plugin with 0.70 or"},
        {"lacking", MST_UNAVAILABLE, "has no PJRT_Event_Destroy: use another version of it"},
        {"refusing", MST_OUT_OF_MEMORY, "beginning to use the plugin: the plugin says: no room: all of it is taken"},
        {"hlo", MST_UNAVAILABLE, "knows StableHLO 0 only: use a plugin with StableHLO 1.0 or later"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("FAKE_PLUGIN", cases[i].fault, true);
        expect_refused(FAKE_PLUGIN, cases[i].status, cases[i].text);
    }
}

/* Puts the fake plugin into a Python environment in the folder of the test. */
static void install(const char *name) {
    static const char *const folders[] = {"env[1]",
                                          "env[1]/lib",
                                          "env[1]/lib/python3.9",
                                          "env[1]/lib/python3.9/site-packages",
                                          "env[1]/lib/python3.9/site-packages/xla_plugins",
                                          "env[1]/lib/python3.9/site-packages/xla_plugins/xla_cpu_pjrt"};
    char path[1024];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) mkdir(folder_path(folders[i]), 0700);
    snprintf(path, sizeof path, "%s/%s", folder_path(folders[5]), name);
    assert_int_equal(symlink(FAKE_PLUGIN, path), 0);
}

static void folder_is_searched_as_a_python_environment(void **state) {
    (void)state;
    setenv("FAKE_PLUGIN", "older", true);
    expect_refused(folder_path(""), MST_NOT_FOUND, "has no plugin for devices of the type 'xla': install one there");
    install("a_plugin.so");
    expect_refused(folder_path("env[1]"), MST_UNAVAILABLE,
                   "xla_cpu_pjrt/a_plugin.so': has version 0.69 of the PJRT API");
    assert_int_equal(symlink("lib", folder_path("env[1]/lib64")), 0); /* the same file twice */
    expect_refused(folder_path("env[1]"), MST_UNAVAILABLE,
                   "xla_cpu_pjrt/a_plugin.so': has version 0.69 of the PJRT API");
    const char *other = folder_write_text("env[1]/lib/python3.9/site-packages/xla_plugins/xla_cpu_pjrt/b.so", "");
    expect_refused(folder_path("env[1]"), MST_UNAVAILABLE,
                   "has several plugins for devices of the type 'xla': name the");
    unlink(other);
}

/* Each bracket takes two characters of a pattern. */
static void folder_whose_path_is_too_long_for_a_pattern(void **state) {
    (void)state;
    enum { LEVELS = 9, LETTERS = 240 };
    char path[4096];
    int used = snprintf(path, sizeof path, "%s", folder_path(""));
    for (int i = 0; i < LEVELS; i++) {
        path[used++] = '/';
        memset(path + used, '[', LETTERS);
        path[used += LETTERS] = '\0';
        assert_int_equal(mkdir(path, 0700), 0);
    }
    expect_refused(path, MST_INVALID, "...' is too long: name a link to it");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_loads_without_a_plugin),
        cmocka_unit_test(other_tasks_may_have_devices_that_cannot_be_made_here),
        cmocka_unit_test(plugin_that_is_not_there),
        TEST_IN_FOLDER(file_that_is_no_plugin),
        TEST_IN_FOLDER(plugin_that_is_cut_off),
        cmocka_unit_test(plugins_that_cannot_be_used),
        TEST_IN_FOLDER(folder_is_searched_as_a_python_environment),
        TEST_IN_FOLDER(folder_whose_path_is_too_long_for_a_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
