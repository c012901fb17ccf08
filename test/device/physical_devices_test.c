/* Lists of devices of a type that has physical devices: all of them without a count, logical devices on them,
 * devices that are not made visible, and specifications that are refused. */
#include <stddef.h>

#include "support/test.h"

#include "device/device.h"
#include "support/compiling.h"

enum { PHYSICAL = 2, MOST = 2 * 64, CHOSEN_BEFORE = 8 };

static bool is_here;   /* there are devices at all */
static int64_t memory; /* of each; 0: the type does not say it */

static mst_status count_devices(int *out) {
    if (!is_here) return MST_FAIL(MST_UNAVAILABLE, "CHIP: no device: see to the driver");
    *out = PHYSICAL;
    return MST_OK;
}

static mst_status find_domain(int index, mst_domain **out) {
    static mst_domain domains[MOST];
    mst_domain *like;
    assert_in_range(index, 0, MOST - 1);
    EXPECT_OK(compiling_type().domain(0, &like));
    domains[index] = (mst_domain){.type = like->type, .index = index};
    *out = &domains[index];
    return MST_OK;
}

/* What a type was asked to see last, "2 0", and whether it can. */
static char asked[64];
static bool can_see;

static mst_status see(const int *place, int count, bool *seen) {
    *asked = '\0';
    for (int i = 0, used = 0; i < count; i++)
        used += snprintf(asked + used, sizeof asked - (size_t)used, "%s%d", i ? " " : "", place[i]);
    if (place[0] == CHOSEN_BEFORE) return MST_FAIL(MST_INVALID, "others were chosen before");
    *seen = can_see;
    return MST_OK;
}

static mst_status describe(const mst_domain *domain, mst_device_info *out) {
    (void)domain;
    out->memory = memory;
    return MST_OK;
}

static int register_types(void **state) {
    (void)state;
    static const mst_physical_devices physical = {.count = count_devices};
    static const mst_physical_devices hiding = {.count = count_devices, .see = see};
    static mst_device_type chip, older, eye;
    chip = older = eye = compiling_type();
    chip.name = "CHIP";
    chip.physical = &physical;
    chip.domain = find_domain;
    chip.describe = describe;
    older.name = "OLDER"; /* the memory behind its end is not read */
    older.size = offsetof(mst_device_type, physical);
    older.physical = &physical;
    eye.name = "EYE";
    eye.physical = &hiding;
    eye.domain = find_domain;
    return mst_device_type_register(&chip) || mst_device_type_register(&older) || mst_device_type_register(&eye) ? -1
                                                                                                                 : 0;
}

static int make_devices(void **state) {
    (void)state;
    is_here = can_see = true;
    *asked = '\0';
    memory = 0;
    return 0;
}

/* SPEC makes devices of the domains and physical devices in WANTED, "0 on 0, 2 on 0". */
static void expect_list(const char *spec, const char *visible, const char *wanted) {
    mst_devices devices;
    char text[256] = "";
    EXPECT_OK(mst_devices_create(spec, visible, 7, NULL, &devices));
    for (int k = 0, used = 0; k < mst_devices_num_listed(&devices); k++) {
        const mst_device *device = &devices.device[mst_devices_listed(&devices, k)];
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%d on %d", k ? ", " : "", device->domain->index,
                         device->physical);
        assert_int_equal(device->name.index, k);
        assert_int_equal(device->memory_limit, 7);
    }
    assert_string_equal(text, wanted);
    mst_devices_free(&devices);
}

static void list_without_a_count_has_all_devices(void **state) {
    (void)state;
    expect_list("chip", NULL, "0 on 0, 1 on 1");
    expect_list("CHIP/1", NULL, "0 on 0, 1 on 1");
    expect_list("chip:1", NULL, "0 on 0");
    expect_list("chip:2", NULL, "0 on 0, 1 on 1");
    expect_list("chip:1,chip:1", NULL, "0 on 0, 1 on 1");
    expect_list("chip", "1", "1 on 1");
}

static void logical_devices_share_a_physical_one(void **state) {
    (void)state;
    expect_list("chip:1x1", NULL, "0 on 0");
    expect_list("chip:1x3", NULL, "0 on 0, 2 on 0, 4 on 0");
    expect_list("chip:2x2/1", NULL, "0 on 0, 2 on 0, 1 on 1, 3 on 1");
    expect_list("chip:1x2,chip:1", NULL, "0 on 0, 2 on 0, 1 on 1");
    expect_list("chip:2x2", "3,0", "3 on 1, 0 on 0");
}

static void physical_devices_are_described_for_showing(void **state) {
    (void)state;
    mst_device_info info[2];
    int count;
    EXPECT_OK(mst_devices_describe("chip:2x2", "3,0", info, 2, &count));
    assert_int_equal(count, 2);
    assert_int_equal(info[0].physical, 1);
    assert_int_equal(info[1].physical, 0);
    EXPECT_OK(mst_devices_describe("cpu:1", NULL, info, 2, &count));
    assert_int_equal(info[0].physical, -1);
}

static void type_without_a_number_has_one_device_unless_asked(void **state) {
    (void)state;
    expect_list("older", NULL, "0 on -1");
    expect_list("older:3", NULL, "0 on -1, 1 on -1, 2 on -1");
}

static void type_sees_only_what_is_visible(void **state) {
    (void)state;
    expect_list("eye:8", "6,1,7", "1 on 1, 0 on 0, 2 on 2"); /* those that it sees are numbered by their places */
    assert_string_equal(asked, "6 1 7");
    expect_list("eye", "1", "0 on 0");
    assert_string_equal(asked, "1");
    can_see = false;
    expect_list("eye:2", "1", "1 on 1");
    assert_string_equal(asked, "1");
}

static void other_lists_see_all(void **state) {
    (void)state;
    expect_list("eye:1x2", "1", "2 on 0");
    expect_list("eye:1,eye:1", "1", "1 on 1");
    expect_list("eye", "", "0 on 0, 1 on 1");
    expect_list("chip", "1", "1 on 1");
    assert_string_equal(asked, "");
}

static void what_cannot_be_visible_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"2", "x", "0,0", "-1", "0 1"};
    mst_devices devices;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_ERROR(mst_devices_create("eye:2", bad[i], 0, NULL, &devices), MST_INVALID, "places from 0 to 1, each");
        assert_string_equal(asked, "");
    }
    EXPECT_ERROR(mst_devices_create("eye:2", "2", 0, NULL, &devices), MST_INVALID, "each once, as in 0,1");
    EXPECT_ERROR(mst_devices_create("eye", "x", 0, NULL, &devices), MST_INVALID,
                 "visible devices 'x': name places, which begin at 0, each once, as in 0,1");
    EXPECT_ERROR(mst_devices_create("chip:1", "1", 0, NULL, &devices), MST_INVALID,
                 "visible devices '1': there is one device, at place 0: use 0");
    EXPECT_ERROR(mst_devices_create("eye", "8", 0, NULL, &devices), MST_INVALID,
                 "visible devices '8': others were chosen before");
    assert_null(devices.device);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec, *error;
    } bad[] = {{"cuda:1", "devices 'cuda:1': GPUs are called gpu: use gpu for all, gpu:2 for two"},
               {"ROCm", "devices 'ROCm': GPUs are called gpu"},
               {"gpus:2",
                "no device type 'gpus' here; there is CPU: use cpu or cpu:2, or put its module into a folder "
                "of MUSTER_MODULE_PATH: did you mean 'gpu'?"},
               {"chip:3", "devices 'chip:3': there are 2 CHIPs here, not 3: use chip:2"},
               {"chip:1,chip:2", "devices 'chip:1,chip:2': there are 2 CHIPs here, not 3: use chip:2"},
               {"chip,chip", "there are 2 CHIPs here, not 4: use chip:2"},
               {"chip:3x2", "there are 2 CHIPs here, not 3: use chip:2"},
               {"chip:0", "devices 'chip:0': counts begin at 1: chip:1 is one CHIP; /chip:0 is a device's name"},
               {"chip:0x2", "'chip:0x2': a count must be a number from 1 to 4096, as in gpu:2"},
               {"chip:-1", "'chip:-1': a count must be a number from 1 to 4096, as in gpu:2"},
               {"chip:99999999999999999999", "a count must be a number from 1 to 4096, as in gpu:2"},
               {"chip:1x0", "'chip:1x0': a count must be a number from 1 to 64, as in gpu:1x2"},
               {"chip:1x", "a count must be a number from 1 to 64, as in gpu:1x2"},
               {"chip:1x2x2", "'x2' is not understood"},
               {"chip:1x65", "'chip:1x65': a count must be a number from 1 to 64, as in gpu:1x2"},
               {"cpu:4096,chip", "'cpu:4096,chip': these are more than 4096"},
               {"older:2x2", "'older:2x2': 'x' is for logical devices of a GPU: write older:2 or older:2/4"},
               {"/chip:0", "'/chip:0': names of devices begin with '/'; this is a list of types and counts"},
               {"grpc://10.0.0.2:8470", "'grpc://10.0.0.2:8470': this is an address, as of a TPU, and Muster drives"},
               {"chip:grpc://10.0.0.2:8470", "TPUs of its own host only: run it on that host with tpu:8"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mst_devices devices;
        EXPECT_ERROR(mst_devices_create(bad[i].spec, NULL, 0, NULL, &devices), MST_INVALID, bad[i].error);
        assert_null(devices.device);
    }
}

static void expect_limit(const char *spec, const char *visible, int64_t limit, const char *error) {
    mst_devices devices;
    if (error) {
        EXPECT_ERROR(mst_devices_create(spec, visible, limit, NULL, &devices), MST_INVALID, error);
        assert_null(devices.device);
        return;
    }
    EXPECT_OK(mst_devices_create(spec, visible, limit, NULL, &devices));
    mst_devices_free(&devices);
}

static void limits_above_the_memory_are_refused(void **state) {
    (void)state;
    static const int64_t mb = 1 << 20;
    expect_limit("chip:2", NULL, 4096 * mb, NULL); /* it is not known how much there is */
    memory = 2048 * mb;
    expect_limit("chip:2", NULL, 2048 * mb, NULL);
    expect_limit("chip:1x2", NULL, 1024 * mb, NULL);
    expect_limit("chip:2x2", NULL, 1024 * mb, NULL);
    expect_limit("chip:1x2,chip:1", NULL, 1024 * mb, NULL);
    expect_limit("chip:1x2", "1", 2048 * mb, NULL); /* one of them is used */
    expect_limit("older:2", NULL, 4096 * mb, NULL);
    expect_limit(
        "chip:2", NULL, 4096 * mb,
        "devices 'chip:2': the memory limit of 4.0 GB is more than CHIP:0 has, which is 2.0 GB: take a lower one");
    expect_limit("chip:2", NULL, 2048 * mb + 1,
                 "the memory limit of 2147483649 bytes is more than CHIP:0 has, which is 2147483648 bytes");
    expect_limit(
        "chip:1x2", NULL, 1025 * mb,
        "devices 'chip:1x2': 2 logical devices with a memory limit of 1.0 GB each need more than their CHIP has, "
        "which is 2.0 GB: take a lower one");
    expect_limit("chip:1x64", NULL, 33 * mb, "64 logical devices with a memory limit of 33.0 MB each need more");
    expect_limit("chip:1x64", NULL, 32 * mb, NULL);
}

static void type_without_devices_is_refused(void **state) {
    (void)state;
    mst_devices devices;
    is_here = false;
    EXPECT_ERROR(mst_devices_create("chip", NULL, 0, NULL, &devices), MST_UNAVAILABLE, "no device: see to the driver");
    assert_null(devices.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(list_without_a_count_has_all_devices, make_devices),
        cmocka_unit_test_setup(logical_devices_share_a_physical_one, make_devices),
        cmocka_unit_test_setup(physical_devices_are_described_for_showing, make_devices),
        cmocka_unit_test_setup(type_without_a_number_has_one_device_unless_asked, make_devices),
        cmocka_unit_test_setup(type_sees_only_what_is_visible, make_devices),
        cmocka_unit_test_setup(other_lists_see_all, make_devices),
        cmocka_unit_test_setup(what_cannot_be_visible_is_refused, make_devices),
        cmocka_unit_test_setup(what_is_not_there_is_refused, make_devices),
        cmocka_unit_test_setup(limits_above_the_memory_are_refused, make_devices),
        cmocka_unit_test_setup(type_without_devices_is_refused, make_devices),
    };
    return cmocka_run_group_tests(tests, register_types, NULL);
}
