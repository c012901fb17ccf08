/* How modules are found and loaded, and the errors for those that cannot be loaded. The modules are in this folder.
 * Each test uses module names of its own, since a process loads a module only once. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module/module.h"
#include "support/folder.h"
#include "support/test.h"

enum { NOBODY = 65534, LONGEST = 4096 };

/* The folder of the test modules: what MUSTER_MODULE_PATH says when the tests begin. */
static char *modules;

static int begin(void **state) {
    (void)state;
    const char *path = getenv("MUSTER_MODULE_PATH");
    modules = path ? strndup(path, strcspn(path, ":")) : NULL; /* the first folder has those of the tests */
    return modules ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    free(modules);
    return 0;
}

static int restore_path(void **state) {
    (void)state;
    return setenv("MUSTER_MODULE_PATH", modules, 1);
}

/* Copies a test module to TO. */
static void copy_module(const char *name, const char *to) {
    char path[LONGEST], buffer[65536];
    snprintf(path, sizeof path, "%s/libmuster-%s.so", modules, name);
    FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;) assert_int_equal(fwrite(buffer, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* Twice: loading a module that could not be loaded gives the same error each time. */
static void expect_unavailable(const char *name, const char *text) {
    for (int i = 0; i < 2; i++) EXPECT_ERROR(mst_module_need(name), MST_UNAVAILABLE, text);
}

/* ---- finding ---- */

static void module_is_found_in_any_folder_of_the_path(void **state) {
    (void)state;
    char path[LONGEST];
    copy_module("empty", folder_path("libmuster-any_folder.so"));
    snprintf(path, sizeof path, "/nowhere/at/all::%s:%s:", modules, folder_path(""));
    setenv("MUSTER_MODULE_PATH", path, 1);
    EXPECT_OK(mst_module_need("empty"));
    EXPECT_OK(mst_module_need("any_folder"));
    EXPECT_OK(mst_module_need("any_folder"));
}

static void first_folder_that_has_a_module_counts(void **state) {
    (void)state;
    char path[LONGEST];
    assert_int_equal(mkdir(folder_path("first"), 0700), 0);
    assert_int_equal(mkdir(folder_path("second"), 0700), 0);
    folder_write("first/libmuster-twice.so", "no module", 9);
    copy_module("empty", folder_path("second/libmuster-twice.so"));
    snprintf(path, sizeof path, "%s:%s", folder_path("first"), folder_path("second"));
    setenv("MUSTER_MODULE_PATH", path, 1);
    expect_unavailable("twice", folder_path("first/libmuster-twice.so"));
}

/* The folder "muster" beside this program, which has the library in it. */
static void beside(char *folder, size_t size) {
    char self[LONGEST / 2];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(folder, size, "%s/muster", self);
}

static void module_is_found_beside_the_library_and_after_the_path(void **state) {
    (void)state;
    char folder[LONGEST], here[LONGEST + 64];
    beside(folder, sizeof folder);
    mkdir(folder, 0700);
    snprintf(here, sizeof here, "%s/libmuster-beside.so", folder);
    copy_module("empty", here);
    unsetenv("MUSTER_MODULE_PATH");
    const mst_status without_path = mst_module_need("beside");
    remove(here);
    snprintf(here, sizeof here, "%s/libmuster-beside_too.so", folder);
    copy_module("empty", here);
    folder_write("libmuster-beside_too.so", "no module", 9);
    setenv("MUSTER_MODULE_PATH", folder_path(""), 1);
    const mst_status with_path = mst_module_need("beside_too");
    remove(here);
    rmdir(folder);
    assert_int_equal(without_path, MST_OK);
    assert_int_equal(with_path, MST_UNAVAILABLE);
}

static void module_that_is_missing_is_looked_for_again(void **state) {
    (void)state;
    setenv("MUSTER_MODULE_PATH", folder_path(""), 1);
    EXPECT_ERROR(mst_module_need("later"), MST_NOT_FOUND,
                 "there is no module 'later': libmuster-later.so is neither in MUSTER_MODULE_PATH nor in '/");
    copy_module("empty", folder_path("libmuster-later.so"));
    EXPECT_OK(mst_module_need("later"));
}

/* Asks for a module in a folder that cannot be read; root may read all, so that another user must ask. */
static int ask_as_another(void) {
    setenv("MUSTER_MODULE_PATH", folder_path("closed"), 1);
    if (geteuid() == 0 && setuid(NOBODY)) return 2;
    const mst_status status = mst_module_need("hidden");
    const char *message = mst_error()->message;
    return status != MST_UNAVAILABLE || !strstr(message, "closed/libmuster-hidden.so': Permission denied") ||
           !strstr(message, "make its folder readable");
}

static void unreadable_folder_is_named(void **state) {
    (void)state;
    int status;
    assert_int_equal(chmod(folder_path(""), 0755), 0);
    assert_int_equal(mkdir(folder_path("closed"), 0700), 0);
    copy_module("empty", folder_path("closed/libmuster-hidden.so"));
    assert_int_equal(chmod(folder_path("closed"), 0), 0);
    const pid_t child = fork();
    if (child == 0) _exit(ask_as_another());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(folder_path("closed"), 0700), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void folder_that_cannot_be_read_does_not_hide_the_others(void **state) {
    (void)state;
    char path[LONGEST];
    assert_int_equal(symlink(folder_path("loop"), folder_path("loop")), 0);
    copy_module("empty", folder_path("libmuster-behind.so"));
    snprintf(path, sizeof path, "%s:%s", folder_path("loop"), folder_path(""));
    setenv("MUSTER_MODULE_PATH", path, 1);
    EXPECT_OK(mst_module_need("behind"));
    EXPECT_ERROR(mst_module_need("nowhere"), MST_UNAVAILABLE,
                 "loop/libmuster-nowhere.so': Too many levels of symbolic links");
}

/* ---- loading ---- */

static void file_that_is_no_library_is_named(void **state) {
    (void)state;
    setenv("MUSTER_MODULE_PATH", folder_path(""), 1);
    expect_unavailable("text", folder_write("libmuster-text.so", "this is a file, and not a module\n", 33));
    expect_unavailable("nothing", folder_write("libmuster-nothing.so", "", 0));
    assert_int_equal(mkdir(folder_path("libmuster-folder.so"), 0700), 0);
    expect_unavailable("folder", folder_path("libmuster-folder.so"));
}

static void library_without_the_entry_function_is_told(void **state) {
    (void)state;
    expect_unavailable("stranger", "libmuster-stranger.so: is no module of Muster: it has no mst_module_query");
}

static void module_for_another_version_is_told_and_not_loaded(void **state) {
    (void)state;
    expect_unavailable("outdated", "libmuster-outdated.so: was built for another version: build it for this one");
    expect_unavailable("newer", "libmuster-newer.so: was built for another version: build it for this one");
}

static void error_of_a_module_that_refuses_is_reported(void **state) {
    (void)state;
    expect_unavailable("refusing", "libmuster-refusing.so: there is no driver: install it");
    assert_non_null(strstr(mst_error()->file, "refusing.c")); /* which is text of the module */
}

/* ---- interfaces ---- */

static void interface_is_that_of_the_module_of_this_name_and_version(void **state) {
    (void)state;
    const void *interface;
    copy_module("offering", folder_path("libmuster-renamed.so"));
    EXPECT_OK(mst_module_interface("offering", &interface));
    assert_int_equal(*(const int *)interface, 42);
    EXPECT_ERROR(mst_module_interface("older", &interface), MST_UNAVAILABLE,
                 "module 'older': is of Muster 0.0.1, and this is Muster ");
    setenv("MUSTER_MODULE_PATH", folder_path(""), 1);
    EXPECT_ERROR(mst_module_interface("renamed", &interface), MST_UNAVAILABLE,
                 "module 'renamed': what is there is another module, 'offering': see to the folders");
    copy_module("empty", folder_path("libmuster-bare.so"));
    EXPECT_ERROR(mst_module_interface("bare", &interface), MST_UNAVAILABLE, "is another module, 'empty'");
    EXPECT_ERROR(mst_module_interface("absent", &interface), MST_NOT_FOUND, "there is no module 'absent'");
}

/* Plots are the command's, and so never linked in. */
static void missing_module_of_muster_names_what_needs_it(void **state) {
    (void)state;
    const void *interface;
    setenv("MUSTER_MODULE_PATH", folder_path(""), 1);
    assert_false(mst_module_is_here("plot"));
    EXPECT_ERROR(mst_module_interface("plot", &interface), MST_UNAVAILABLE, "no plots as PNG and SVG");
    EXPECT_ERROR(mst_module_interface("plot", &interface), MST_UNAVAILABLE, "without the module 'plot'");
    EXPECT_ERROR(mst_module_interface("plot", &interface), MST_UNAVAILABLE, ": install ");
    folder_write("libmuster-plot.so", "no module", 9);
    assert_true(mst_module_is_here("plot"));
    for (int i = 0; i < 2; i++)
        EXPECT_ERROR(mst_module_interface("plot", &interface), MST_UNAVAILABLE,
                     ": install cairo (package libcairo2-dev), or build and install Muster again");
}

/* This program is linked with the static library. */
static void codecs_are_in_the_static_library(void **state) {
    (void)state;
    int found = 0;
    setenv("MUSTER_MODULE_PATH", folder_path(""), 1);
    for (const mst_module_info *info = mst_module_infos(); info->name; info++) {
        const void *interface;
        char file[LONGEST];
        const bool is_linked = strcmp(info->library, "libjpeg-turbo") == 0 || strcmp(info->library, "libspng") == 0 ||
                               strcmp(info->library, "libwebp") == 0 || strcmp(info->library, "giflib") == 0 ||
                               strcmp(info->library, "libzip") == 0 || strcmp(info->library, "PCRE2") == 0;
        const bool built = info->version[0] && is_linked;
        assert_int_equal(mst_module_is_here(info->name), built);
        if (!built) continue;
        snprintf(file, sizeof file, "libmuster-%s.so", info->name);
        folder_write(file, "no module", 9);
        EXPECT_OK(mst_module_interface(info->name, &interface));
        assert_non_null(interface);
        found++;
    }
    if (!found) skip(); /* neither libjpeg-turbo nor libspng */
}

/* ---- as devices ---- */

static void expect_no_session(const char *devices, mst_status code, const char *text) {
    mst_session *session;
    mst_graph *g = engine_graph();
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.devices = devices}, &session), code, text);
    mst_graph_destroy(g);
}

static void devices_are_those_of_modules(void **state) {
    (void)state;
    mst_session *session;
    mst_graph *g = engine_graph();
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "island:2/1"}, &session));
    assert_non_null(strstr(mst_session_device(session, 1), "device:ISLAND:1"));
    engine_end(g, session);
    expect_no_session("nowhere:1", MST_INVALID, "devices 'nowhere:1': no device type 'nowhere' here");
    expect_no_session("empty:1", MST_INVALID, "devices 'empty:1': no device type 'empty' here");
    expect_no_session("outdated:1", MST_UNAVAILABLE, "devices 'outdated:1': module ");
    expect_no_session("refusing", MST_UNAVAILABLE, "there is no driver: install it");
}

#define TEST(function) cmocka_unit_test_teardown(function, restore_path)

static int remove_folder(void **state) {
    const int path = restore_path(state), folder = folder_remove(state);
    return path ? path : folder;
}

#define TEST_WITH_FOLDER(function) cmocka_unit_test_setup_teardown(function, folder_create, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_WITH_FOLDER(module_is_found_in_any_folder_of_the_path),
        TEST_WITH_FOLDER(first_folder_that_has_a_module_counts),
        TEST_WITH_FOLDER(module_is_found_beside_the_library_and_after_the_path),
        TEST_WITH_FOLDER(module_that_is_missing_is_looked_for_again),
        TEST_WITH_FOLDER(unreadable_folder_is_named),
        TEST_WITH_FOLDER(folder_that_cannot_be_read_does_not_hide_the_others),
        TEST_WITH_FOLDER(file_that_is_no_library_is_named),
        TEST(library_without_the_entry_function_is_told),
        TEST(module_for_another_version_is_told_and_not_loaded),
        TEST(error_of_a_module_that_refuses_is_reported),
        TEST_WITH_FOLDER(interface_is_that_of_the_module_of_this_name_and_version),
        TEST_WITH_FOLDER(codecs_are_in_the_static_library),
        TEST_WITH_FOLDER(missing_module_of_muster_names_what_needs_it),
        TEST(devices_are_those_of_modules),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
