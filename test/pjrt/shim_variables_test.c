/* Variables of the plugin `shim` (shim.c) that change what it says about itself. A process reads them only once, so
 * these tests start other processes. Skipped if there is no real plugin. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pjrt/bare_job.h"
#include "support/folder.h"
#include "support/test.h"

enum { MOST_REPORT = 8192, MOST_VARIABLES = 200 };

static void print_text(const char *name, const char *at, size_t size) {
    printf("%s %.*s\n", name, (int)size, at);
}

static void print_attributes(bare_problem *p) {
    BARE_MAKE(Plugin_Attributes, x);
    if (!bare_api->PJRT_Plugin_Attributes || !BARE_CALL(Plugin_Attributes, x)) return;
    for (size_t i = 0; i < x.num_attributes; i++) {
        const PJRT_NamedValue *value = &x.attributes[i];
        if (value->type != PJRT_NamedValue_kInt64List) continue;
        printf("%.*s", (int)value->name_size, value->name);
        for (size_t k = 0; k < value->value_size; k++) printf(" %lld", (long long)value->int64_array_value[k]);
        printf("\n");
    }
}

static void print_device(PJRT_Device *device, bare_problem *p) {
    BARE_MAKE(Device_GetDescription, describe);
    BARE_MAKE(DeviceDescription_Kind, kind);
    BARE_MAKE(Device_MemoryStats, memory);
    describe.device = memory.device = device;
    if (!BARE_CALL(Device_GetDescription, describe)) return;
    kind.device_description = describe.device_description;
    if (BARE_CALL(DeviceDescription_Kind, kind)) print_text("kind", kind.device_kind, kind.device_kind_size);
    bare_problem unknown = {0};
    if (bare_good(bare_api->PJRT_Device_MemoryStats(&memory), &unknown))
        printf("memory %lld of %lld\n", (long long)memory.bytes_in_use,
               memory.bytes_limit_is_set ? (long long)memory.bytes_limit : -1);
    else
        printf("memory unknown\n");
}

static void print_client(bare_problem *p) {
    bare_job j = {0};
    BARE_MAKE(Client_PlatformName, name);
    BARE_MAKE(Client_PlatformVersion, version);
    BARE_MAKE(Client_AddressableDevices, devices);
    if (!bare_make_client(&j, p)) return;
    name.client = version.client = devices.client = j.client;
    if (BARE_CALL(Client_PlatformName, name)) print_text("platform", name.platform_name, name.platform_name_size);
    if (BARE_CALL(Client_PlatformVersion, version))
        print_text("platform_version", version.platform_version, version.platform_version_size);
    if (BARE_CALL(Client_AddressableDevices, devices)) {
        printf("devices %zu\n", devices.num_addressable_devices);
        for (size_t i = 0; i < devices.num_addressable_devices; i++) print_device(devices.addressable_devices[i], p);
    }
    if (bare_compile(&j, p)) printf("compiles\n");
    bare_end_job(&j, p);
}

/* What the process says that a test has started with variables. */
static int report(const char *what) {
    bare_problem p = {0};
    if (!bare_load()) {
        printf("no API\n");
        return 0;
    }
    printf("size %zu\n", bare_api->struct_size);
    if (!strcmp(what, "end")) { /* memory that cannot be read */
        fflush(stdout);
        const volatile char *behind = (const char *)bare_api + (bare_api->struct_size + 7) / 8 * 8;
        return *behind ? 1 : 0;
    }
    if (!strcmp(what, "size")) return 0;
    printf("version %d.%d\n", bare_api->pjrt_api_version.major_version, bare_api->pjrt_api_version.minor_version);
    printf("extensions %s\n", bare_api->extension_start ? "there" : "none");
    printf("PJRT_Buffer_CopyRawToHost %s\n", bare_api->PJRT_Buffer_CopyRawToHost ? "there" : "none");
    print_attributes(&p);
    print_client(&p);
    if (p.code) printf("code %d: %s\n", (int)p.code, p.message);
    return 0;
}

/* What a process says with these variables, "NAME=VALUE" each, up to NULL; valid until the next call. STATUS is as
 * waitpid has it. */
static const char *report_with(const char *what, const char *const *variables, int *status) {
    static char said[MOST_REPORT];
    char *environment[MOST_VARIABLES], *arguments[] = {"shim_test", (char *)(uintptr_t)what, NULL};
    int used = 0, place = 0;
    for (; variables[used]; used++) environment[used] = (char *)(uintptr_t)variables[used];
    while (environ[place] && used < MOST_VARIABLES - 1) environment[used++] = environ[place++];
    environment[used] = NULL;
    posix_spawn_file_actions_t actions;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, folder_path("out"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environment), 0);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(waitpid(child, status, 0), child);
    FILE *file = fopen(folder_path("out"), "r");
    assert_non_null(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return said;
}

static void expect_said(const char *what, const char *variable, const char *const *wanted) {
    const char *variables[] = {variable, NULL};
    int status;
    const char *said = report_with(what, variables, &status);
    for (; *wanted; wanted++)
        if (!strstr(said, *wanted)) fail_msg("%s: '%s' is not in '%s'", variable, *wanted, said);
    if (status != 0) fail_msg("%s: status %d: '%s'", variable, status, said);
}
#define EXPECT_SAID(what, variable, ...) expect_said(what, variable, (const char *const[]){__VA_ARGS__, NULL})

static void variables_change_what_the_plugin_says(void **state) {
    (void)state;
    EXPECT_SAID("all", "NOTHING=1", "platform cpu\n", "devices 2\n", "memory unknown\n", "extensions there\n",
                "PJRT_Buffer_CopyRawToHost there\n", "compiles\n");
    EXPECT_SAID("all", "MUSTER_SHIM_PLATFORM=cuda", "platform cuda\n", "devices 2\n", "compiles\n");
    EXPECT_SAID("all", "MUSTER_SHIM_PLATFORM_VERSION=cuda 13000", "platform_version cuda 13000\n", "platform cpu\n");
    EXPECT_SAID("all", "MUSTER_SHIM_API=1.2", "version 1.2\n");
    EXPECT_SAID("all", "MUSTER_SHIM_STABLEHLO=0.9.4", "stablehlo_current_version 0 9 4\n",
                "stablehlo_minimum_version ");
    EXPECT_SAID("all", "MUSTER_SHIM_KIND=H200;A100", "devices 2\nkind H200\nmemory unknown\nkind A100\n");
    EXPECT_SAID("all", "MUSTER_SHIM_KIND=H200", "kind H200\nmemory unknown\nkind H200\n");
    EXPECT_SAID("all", "MUSTER_SHIM_DEVICES=1", "devices 1\n", "compiles\n");
    EXPECT_SAID("all", "MUSTER_SHIM_DEVICES=5", "devices 5\n", "compiles\n");
    EXPECT_SAID("all", "MUSTER_SHIM_BYTES_LIMIT=1000", "memory 0 of 1000\n");
    EXPECT_SAID("all", "MUSTER_SHIM_BYTES_IN_USE=7", "memory 7 of -1\n");
    EXPECT_SAID("all", "MUSTER_SHIM_LEFT_OUT=PJRT_Buffer_CopyRawToHost;extensions", "extensions none\n",
                "PJRT_Buffer_CopyRawToHost none\n", "compiles\n");
    EXPECT_SAID("all", "MUSTER_SHIM_FAULTS=PJRT_Client_Create 1 fail NOT_FOUND no driver",
                "code 5: shim: PJRT_Client_Create: no driver\n");
}

static void the_struct_ends_where_it_says(void **state) {
    (void)state;
    static const struct {
        const char *variable;
        size_t size;
    } cases[] = {
        {"NOTHING=1", 0},
        {"MUSTER_SHIM_STRUCT_SIZE=0", 0},
        {"MUSTER_SHIM_STRUCT_SIZE=13", 13},
        {"MUSTER_SHIM_LAST_FUNCTION=PJRT_Compile", PJRT_STRUCT_SIZE(PJRT_Api, PJRT_Compile)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[BARE_MOST_MESSAGE];
        int status;
        snprintf(wanted, sizeof wanted, "size %zu\n", i == 0 ? bare_api->struct_size : cases[i].size);
        EXPECT_SAID("size", cases[i].variable, wanted);
        report_with("end", (const char *const[]){cases[i].variable, NULL}, &status);
        if (cases[i].size > 0 || i == 0) assert_int_not_equal(status, 0);
    }
    EXPECT_SAID("size", "MUSTER_SHIM_STRUCT_SIZE=100000", "size 100000\n");
}

static void mistakes_in_variables_are_said(void **state) {
    (void)state;
    EXPECT_SAID("all", "MUSTER_SHIM_DEVICES=two", "shim: MUSTER_SHIM_DEVICES: 'two'\n", "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_API=1", "shim: MUSTER_SHIM_API: '1'\n", "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_STABLEHLO=1.2.3.4", "shim: MUSTER_SHIM_STABLEHLO", "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_FAULTS=PJRT_None 1 fail", "there is no function 'PJRT_None'", "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_LEFT_OUT=PJRT_None", "shim: the plugin has no such function: 'PJRT_None'\n",
                "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_LAST_FUNCTION=PJRT_None", "shim: the plugin has no such function", "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_PLUGIN=", "shim: MUSTER_SHIM_PLUGIN is not set", "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_PLUGIN=/none.so", "/none.so: cannot open shared object file", "no API\n");
    EXPECT_SAID("all", "MUSTER_SHIM_PLUGIN=libm.so.6", "shim: MUSTER_SHIM_PLUGIN is no plugin: 'libm.so.6'\n",
                "no API\n");
}

static void counts_and_options_are_written(void **state) {
    (void)state;
    char counts[BARE_MOST_MESSAGE], made[BARE_MOST_MESSAGE], said[MOST_REPORT];
    int status;
    snprintf(counts, sizeof counts, "MUSTER_SHIM_COUNTS=%s", folder_path("counts"));
    snprintf(made, sizeof made, "MUSTER_SHIM_OPTIONS=%s", folder_path("options"));
    report_with("all", (const char *const[]){counts, made, "MUSTER_SHIM_DEVICES=1", NULL}, &status);
    assert_int_equal(status, 0);
    FILE *file = fopen(folder_path("counts"), "r");
    assert_non_null(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    static const char *const wanted[] = {"PJRT_Client_Compile 1\n", "PJRT_LoadedExecutable_Execute 0\n",
                                         "PJRT_Client_Create 1\n", "PJRT_Client 0\n", "PJRT_LoadedExecutable 0\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(said, wanted[i])) fail_msg("'%s' is not in '%s'", wanted[i], said);
    file = fopen(folder_path("options"), "r");
    assert_non_null(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(said, "cpu_device_count 2\n"); /* as the caller has asked */
}

int main(int argc, char **argv) {
    if (argc > 1) return report(argv[1]);
    if (bare_is_skipped()) return BARE_SKIPPED;
    if (!bare_load()) return 1;
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(variables_change_what_the_plugin_says),
        TEST_IN_FOLDER(the_struct_ends_where_it_says),
        TEST_IN_FOLDER(mistakes_in_variables_are_said),
        TEST_IN_FOLDER(counts_and_options_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
