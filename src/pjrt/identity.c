/* Plugins say little about themselves: the version of the plugin for CPUs is "cpu". So the text of a plugin has a hash
 * of its attributes and of samples of its file. Samples suffice, because the files of two versions differ in nearly all
 * places. The hash also covers the compiler's flags in the environment, because other flags give other programs. */
#include "pjrt/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/processor.h"

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) { /* FNV-1a */
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3;
    return hash;
}

static mst_status hash_file(const char *path, uint64_t *hash) {
    enum { PLACES = 256, SAMPLE = 1024 };
    char sample[SAMPLE];
    FILE *file = fopen(path, "rbe");
    const long size = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
    if (size < 0) {
        const mst_status status = MST_FAIL(MST_IO, "plugin '%s': cannot be read: %s", path, strerror(errno));
        if (file) fclose(file);
        return status;
    }
    *hash = hash_bytes(*hash, &size, sizeof size);
    for (int i = 0; i < PLACES; i++) {
        if (fseek(file, size / PLACES * i, SEEK_SET)) break;
        *hash = hash_bytes(*hash, sample, fread(sample, 1, sizeof sample, file));
    }
    fclose(file);
    return MST_OK;
}

/* Adds the instructions and the number of threads of this machine's processor to HASH. Programs for the processor are
 * compiled for both. */
static uint64_t hash_processor(uint64_t hash) {
    enum { LONGEST = 8192 };
    char line[LONGEST];
    const int threads = mst_pjrt_num_threads();
    hash = hash_bytes(hash, &threads, sizeof threads);
    FILE *file = fopen("/proc/cpuinfo", "re"); /* its lines "flags" (x86) and "Features" (ARM) list the instructions */
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0;
        if (found) hash = hash_bytes(hash, line, strlen(line));
    }
    if (file) fclose(file);
    return hash;
}

/* Adds the contents of a file of flags to HASH, if TEXT is its path. XLA_FLAGS may name such a file. */
static uint64_t hash_flag_file(uint64_t hash, const char *text) {
    char part[1024];
    size_t size;
    FILE *file = text[strspn(text, " \t\r\n")] == '-' ? NULL : fopen(text, "re");
    if (!file) return hash;
    while ((size = fread(part, 1, sizeof part, file))) hash = hash_bytes(hash, part, size);
    fclose(file);
    return hash;
}

/* Adds the environment variables that compilers read when the client is made. An empty variable counts as not set. */
static uint64_t hash_environment(uint64_t hash) {
    static const char *const names[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (!text || !*text) continue;
        hash = hash_bytes(hash, names[i], strlen(names[i]) + 1);
        hash = hash_bytes(hash, text, strlen(text) + 1);
        hash = hash_flag_file(hash, text);
    }
    return hash;
}

static mst_status hash_attributes(const PJRT_Api *api, uint64_t *hash) {
    const PJRT_NamedValue *attribute;
    size_t count;
    MST_TRY(mst_pjrt_attributes(api, &attribute, &count));
    for (const PJRT_NamedValue *a = attribute; a < attribute + count; a++) {
        *hash = hash_bytes(*hash, a->name, a->name_size);
        switch (a->type) {
            case PJRT_NamedValue_kString: *hash = hash_bytes(*hash, a->string_value, a->value_size); break;
            case PJRT_NamedValue_kInt64List:
                *hash = hash_bytes(*hash, a->int64_array_value, a->value_size * sizeof *a->int64_array_value);
                break;
            case PJRT_NamedValue_kInt64: *hash = hash_bytes(*hash, &a->int64_value, sizeof a->int64_value); break;
            case PJRT_NamedValue_kFloat: *hash = hash_bytes(*hash, &a->float_value, sizeof a->float_value); break;
            case PJRT_NamedValue_kBool: *hash = hash_bytes(*hash, &a->bool_value, sizeof a->bool_value); break;
        }
    }
    return MST_OK;
}

static mst_status hash_version(const mst_pjrt_client *x, uint64_t *hash) {
    PJRT_Client_PlatformVersion_Args args = {.struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE,
                                             .client = x->client};
    if (!x->api->PJRT_Client_PlatformVersion) return MST_OK;
    MST_TRY(mst_pjrt_check(x->api, x->api->PJRT_Client_PlatformVersion(&args), "asking for the platform's version"));
    *hash = hash_bytes(*hash, args.platform_version, args.platform_version_size);
    return MST_OK;
}

/* Writes the kind of DEVICE to KIND; "": the plugin does not say. */
static mst_status find_kind(const PJRT_Api *api, PJRT_Device *device, char kind[MST_PJRT_TEXT]) {
    PJRT_Device_GetDescription_Args get = {.struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE,
                                           .device = device};
    PJRT_DeviceDescription_Kind_Args args = {.struct_size = PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE};
    *kind = '\0';
    if (!api->PJRT_Device_GetDescription || !api->PJRT_DeviceDescription_Kind) return MST_OK;
    MST_TRY(mst_pjrt_check(api, api->PJRT_Device_GetDescription(&get), "asking for a device"));
    args.device_description = get.device_description;
    MST_TRY(mst_pjrt_check(api, api->PJRT_DeviceDescription_Kind(&args), "asking for a device's kind"));
    snprintf(kind, MST_PJRT_TEXT, "%.*s", (int)args.device_kind_size, args.device_kind ? args.device_kind : "");
    return MST_OK;
}

/* Sets x->device_kind. Fails if the devices differ in kind, because a program is compiled once for all of them. */
static mst_status find_kinds(mst_pjrt_client *x, const char *path) {
    MST_TRY(find_kind(x->api, x->device[0], x->device_kind));
    for (int i = 1; i < x->num_devices; i++) {
        char other[MST_PJRT_TEXT];
        MST_TRY(find_kind(x->api, x->device[i], other));
        if (strcmp(other, x->device_kind) != 0)
            return MST_FAIL(
                MST_UNAVAILABLE,
                "plugin '%s': finds devices of two kinds, '%s' and '%s', and all must be of one: hide others from "
                "it (CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES)",
                path, x->device_kind, other);
    }
    return MST_OK;
}

mst_status mst_pjrt_identify(mst_pjrt_client *x, const char *path) {
    uint64_t hash = 0xcbf29ce484222325;
    MST_TRY(hash_file(path, &hash));
    MST_TRY(hash_attributes(x->api, &hash));
    MST_TRY(hash_version(x, &hash));
    if (x->kind->is_processor) hash = hash_processor(hash);
    hash = hash_environment(hash);
    snprintf(x->plugin, sizeof x->plugin, "%s %d.%d %016llx", x->kind->name, x->api->pjrt_api_version.major_version,
             x->api->pjrt_api_version.minor_version, (unsigned long long)hash);
    MST_TRY(find_kinds(x, path));
    snprintf(x->identity, sizeof x->identity, "%s, %s", x->device_kind, x->plugin);
    return MST_OK;
}
