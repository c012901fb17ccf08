#include "pjrt/device_info.h"

#include <stdio.h>
#include <string.h>

#include "pjrt/buffers.h"
#include "pjrt/client.h"

static mst_status find_platform(const mst_pjrt_client *x, mst_device_info *out) {
    PJRT_Client_PlatformName_Args args = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = x->client};
    MST_TRY(mst_pjrt_check(x->api, x->api->PJRT_Client_PlatformName(&args), "asking for the platform"));
    mst_pjrt_line(args.platform_name, args.platform_name_size, out->platform, sizeof out->platform);
    return MST_OK;
}

/* Appends BEFORE and VERSION to out->versions, after a comma. */
static void add_version(mst_device_info *out, const char *before, const char *version) {
    const size_t used = strlen(out->versions);
    snprintf(out->versions + used, sizeof out->versions - used, "%s%s%s", used ? ", " : "", before, version);
}

static mst_status add_platform_version(const mst_pjrt_client *x, mst_device_info *out) {
    char version[MST_PJRT_TEXT];
    PJRT_Client_PlatformVersion_Args args = {.struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE,
                                             .client = x->client};
    if (!x->api->PJRT_Client_PlatformVersion) return MST_OK;
    MST_TRY(mst_pjrt_check(x->api, x->api->PJRT_Client_PlatformVersion(&args), "asking for the platform's version"));
    mst_pjrt_line(args.platform_version, args.platform_version_size, version, sizeof version);
    if (*version) add_version(out, "", version);
    return MST_OK;
}

static void add_api_version(const PJRT_Api *api, mst_device_info *out) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d", api->pjrt_api_version.major_version,
             api->pjrt_api_version.minor_version);
    add_version(out, "PJRT API ", version);
}

static mst_status add_stablehlo_version(const PJRT_Api *api, mst_device_info *out) {
    char text[96];
    const PJRT_NamedValue *version;
    MST_TRY(mst_pjrt_stablehlo_version(api, &version));
    if (!version || version->value_size != 3) return MST_OK;
    const int64_t *number = version->int64_array_value;
    snprintf(text, sizeof text, "%lld.%lld.%lld", (long long)number[0], (long long)number[1], (long long)number[2]);
    add_version(out, "StableHLO ", text);
    return MST_OK;
}

/* Many plugins do not report memory, so an error is ignored. */
static void find_memory(const PJRT_Api *api, PJRT_Device *device, mst_device_info *out) {
    PJRT_Device_MemoryStats_Args args = {.struct_size = PJRT_Device_MemoryStats_Args_STRUCT_SIZE, .device = device};
    PJRT_Error *error = api->PJRT_Device_MemoryStats ? api->PJRT_Device_MemoryStats(&args) : NULL;
    mst_pjrt_error_drop(api, error);
    if (error || !api->PJRT_Device_MemoryStats) return;
    out->memory_in_use = args.bytes_in_use;
    out->memory = args.bytes_limit_is_set ? args.bytes_limit : 0;
}

mst_status mst_pjrt_describe(const mst_domain *domain, mst_device_info *out) {
    const mst_pjrt_client *x = mst_pjrt_domain_client(domain);
    snprintf(out->kind, sizeof out->kind, "%s", x->device_kind);
    out->num_here = x->num_devices;
    MST_TRY(find_platform(x, out));
    MST_TRY(add_platform_version(x, out));
    add_api_version(x->api, out);
    MST_TRY(add_stablehlo_version(x->api, out));
    find_memory(x->api, mst_pjrt_domain_device(domain), out);
    return MST_OK;
}
