#include "pjrt/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "pjrt/find_plugin.h"
#include "pjrt/identity.h"
#include "pjrt/under_way.h"
#include "run/backend.h"
#include "run/errand.h"

const mst_registrar *mst_pjrt_host;

/* The argument of the errand, which makes CLIENT with the plugin at PATH. */
typedef struct making {
    mst_pjrt_client *client;
    char path[MST_PJRT_PATH];
} making;

/* ---- on the errand's thread ---- */

/* Whether ERROR may mean that the plugin does not know an option. */
static bool is_of_option(const PJRT_Api *api, PJRT_Error *error) {
    const PJRT_Error_Code code = mst_pjrt_error_code(api, error);
    return code == PJRT_Error_Code_INVALID_ARGUMENT || code == PJRT_Error_Code_UNIMPLEMENTED;
}

/* Frees ERROR, because of which the client was not made, and records it. */
static mst_status report_creation(const mst_pjrt_client *x, PJRT_Error *error) {
    char message[MST_PJRT_MESSAGE];
    const mst_status status = mst_pjrt_error_take(x->api, error, message);
    return MST_FAIL(status, "making a client for '%s': the plugin says: %s: %s", x->kind->name, message,
                    x->kind->advice);
}

/* Makes the client with kind->option, or without that option if the plugin does not know it. The option that lists the
 * visible devices is passed in both cases. */
static mst_status create_client(mst_pjrt_client *x) {
    enum { MOST_OPTIONS = 2 };
    PJRT_NamedValue option[MOST_OPTIONS];
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE, .create_options = option};
    if (x->num_visible)
        option[args.num_options++] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                                       .name = x->kind->visible_option,
                                                       .name_size = strlen(x->kind->visible_option),
                                                       .type = PJRT_NamedValue_kInt64List,
                                                       .int64_array_value = x->visible,
                                                       .value_size = (size_t)x->num_visible};
    if (x->kind->option.name) option[args.num_options++] = x->kind->option;
    PJRT_Error *error = x->api->PJRT_Client_Create(&args);
    if (error && x->kind->option.name && is_of_option(x->api, error)) {
        mst_pjrt_error_drop(x->api, error);
        args.num_options--;
        args.client = NULL;
        error = x->api->PJRT_Client_Create(&args);
    }
    x->client = args.client;
    return error ? report_creation(x, error) : MST_OK;
}

/* Whether the SIZE bytes at NAME are one of NAMES. */
static bool is_among(const char *name, size_t size, const char *const *names) {
    for (; *names; names++)
        if (strlen(*names) == size && memcmp(*names, name, size) == 0) return true;
    return false;
}

/* Writes NAMES to TEXT: "cuda or rocm". */
static void list_names(const char *const *names, char text[MST_PJRT_TEXT]) {
    size_t used = 0;
    for (int i = 0; names[i] && used < MST_PJRT_TEXT; i++)
        used += (size_t)snprintf(text + used, MST_PJRT_TEXT - used, "%s%s", i ? " or " : "", names[i]);
}

static mst_status check_platform(const mst_pjrt_client *x, const char *path) {
    PJRT_Client_PlatformName_Args args = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = x->client};
    MST_TRY(mst_pjrt_check(x->api, x->api->PJRT_Client_PlatformName(&args), "asking for the platform"));
    if (is_among(args.platform_name, args.platform_name_size, x->kind->platforms)) return MST_OK;
    char platforms[MST_PJRT_TEXT];
    list_names(x->kind->platforms, platforms);
    return MST_FAIL(
        MST_NOT_FOUND,
        "plugin '%s': is for the platform '%.*s', and '%s' needs one for %s: set MUSTER_PJRT_PLUGIN to such a "
        "plugin",
        path, (int)args.platform_name_size, args.platform_name, x->kind->name, platforms);
}

static mst_status find_devices(mst_pjrt_client *x, const char *path) {
    PJRT_Client_AddressableDevices_Args args = {.struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE,
                                                .client = x->client};
    MST_TRY(mst_pjrt_check(x->api, x->api->PJRT_Client_AddressableDevices(&args), "asking for the devices"));
    x->device = args.addressable_devices;
    x->num_devices = args.num_addressable_devices < INT32_MAX ? (int)args.num_addressable_devices : INT32_MAX;
    if (x->num_devices) return MST_OK;
    return MST_FAIL(MST_UNAVAILABLE, "plugin '%s': finds no device for '%s' here: %s", path, x->kind->name,
                    x->kind->advice);
}

/* Destroys a client that was only partly made. Otherwise its devices would stay in use. */
static void drop_client(mst_pjrt_client *x) {
    PJRT_Client_Destroy_Args args = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE, .client = x->client};
    if (x->client && x->api->PJRT_Client_Destroy) mst_pjrt_error_drop(x->api, x->api->PJRT_Client_Destroy(&args));
    x->client = NULL;
    x->device = NULL;
    x->num_devices = 0;
    free(x->api);
    x->api = NULL;
}

static mst_status use_plugin(making *m) {
    mst_pjrt_client *x = m->client;
    MST_TRY(create_client(x));
    MST_TRY(check_platform(x, m->path));
    MST_TRY(find_devices(x, m->path));
    return mst_pjrt_identify(x, m->path);
}

static mst_status make_client(void *context) {
    making *m = context;
    MST_TRY(mst_pjrt_api_load(m->path, &m->client->api));
    mst_pjrt_guard_exit();
    mst_pjrt_work_begin();
    const mst_status status = use_plugin(m);
    if (status) drop_client(m->client);
    mst_pjrt_guard_exit();
    mst_pjrt_work_end();
    return status;
}

/* ---- on the threads that need the client ---- */

static mst_status start_making(mst_pjrt_client *x) {
    static const mst_errand_type type = {make_client, free};
    making *m = calloc(1, sizeof *m);
    if (!m) return MST_NO_MEMORY("for a client");
    m->client = x;
    mst_status status = mst_pjrt_find_plugin(x->kind->name, x->kind->places, m->path);
    if (!status) status = mst_pjrt_host->services->errand_start(&type, m, &x->errand);
    if (status) free(m);
    return status;
}

/* Makes the client if there is none, with the COUNT devices that VISIBLE lists; COUNT 0: with all devices. Called under
 * the client's lock, so a second caller waits until the first one is done. */
static mst_status need_client(mst_pjrt_client *x, const int64_t *visible, int count) {
    static const int64_t patience = 180000000000; /* ns; the first start of a driver takes many seconds */
    const mst_backend_services *services = mst_pjrt_host->services;
    if (x->process && x->process != getpid())
        return MST_FAIL(
            MST_INVALID,
            "the devices of '%s' were made before fork(), and their threads are not in this process: fork before "
            "the first, or start a program of its own",
            x->kind->name);
    if (x->is_made) return MST_OK;
    if (!x->errand) {
        for (int i = 0; i < count; i++) x->visible[i] = visible[i];
        x->num_visible = count;
        MST_TRY(start_making(x));
    }
    x->process = getpid();
    const mst_status status = services->errand_wait(x->errand, services->clock_now() + patience, "loading the plugin");
    if (status == MST_DEADLINE) return status; /* the next call waits for the same errand */
    x->is_made = !status;
    services->errand_leave(x->errand);
    x->errand = NULL;
    return status;
}

mst_status mst_pjrt_client_need(mst_pjrt_client *x) {
    pthread_mutex_lock(&x->lock);
    const mst_status status = need_client(x, NULL, 0);
    pthread_mutex_unlock(&x->lock);
    return status;
}

mst_status mst_pjrt_client_count(mst_pjrt_client *x, int *out) {
    MST_TRY(mst_pjrt_client_need(x));
    *out = x->num_devices;
    return MST_OK;
}

static int compare_places(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static mst_status see(mst_pjrt_client *x, const int64_t *visible, int count, bool *seen) {
    const bool has_chosen = x->is_made || x->errand;
    if (has_chosen && !x->num_visible) return MST_OK;
    if (has_chosen && (x->num_visible != count || memcmp(x->visible, visible, (size_t)count * sizeof *visible) != 0))
        return MST_FAIL(MST_INVALID,
                        "this process has chosen others of type '%s' before, and keeps these: choose the same, or all "
                        "that it needs in its first list of devices",
                        x->kind->name);
    MST_TRY(need_client(x, visible, count));
    *seen = x->num_devices == count;
    if (!*seen) x->num_visible = 0; /* the plugin does not know the option */
    return MST_OK;
}

mst_status mst_pjrt_client_see(mst_pjrt_client *x, const int *place, int count, bool *seen) {
    int64_t visible[MST_PJRT_MOST_VISIBLE];
    if (count > MST_PJRT_MOST_VISIBLE)
        return MST_FAIL(MST_INVALID, "these are more than %d: name fewer", (int)MST_PJRT_MOST_VISIBLE);
    for (int i = 0; i < count; i++) visible[i] = place[i];
    qsort(visible, (size_t)count, sizeof *visible, compare_places);
    pthread_mutex_lock(&x->lock);
    const mst_status status = see(x, visible, count, seen);
    pthread_mutex_unlock(&x->lock);
    return status;
}

PJRT_Device *mst_pjrt_client_device(const mst_pjrt_client *x, int index) {
    return x->device[index % x->num_devices];
}
