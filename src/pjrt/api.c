#include "pjrt/api.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

/* ---- errors ---- */

static mst_status status_of(PJRT_Error_Code code) {
    switch (code) {
        case PJRT_Error_Code_CANCELLED: return MST_CANCELLED;
        case PJRT_Error_Code_RESOURCE_EXHAUSTED: return MST_OUT_OF_MEMORY;
        case PJRT_Error_Code_UNIMPLEMENTED: return MST_UNIMPLEMENTED;
        /* not MST_DEADLINE, which means that a deadline of this library has passed */
        case PJRT_Error_Code_DEADLINE_EXCEEDED:
        case PJRT_Error_Code_ABORTED:
        case PJRT_Error_Code_DATA_LOSS:
        case PJRT_Error_Code_UNAVAILABLE: return MST_UNAVAILABLE;
        default: return MST_INTERNAL;
    }
}

void mst_pjrt_line(const char *text, size_t size, char *out, size_t room) {
    size_t used = 0;
    for (size_t i = 0; text && i < size && used < room - 1; i++) {
        const char c = (unsigned char)text[i] < ' ' ? ' ' : text[i];
        if (c != ' ' || (used && out[used - 1] != ' ')) out[used++] = c;
    }
    while (used && out[used - 1] == ' ') used--;
    out[used] = '\0';
}

void mst_pjrt_error_drop(const PJRT_Api *api, PJRT_Error *error) {
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error};
    if (error) api->PJRT_Error_Destroy(&args);
}

PJRT_Error_Code mst_pjrt_error_code(const PJRT_Api *api, PJRT_Error *error) {
    PJRT_Error_GetCode_Args args = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE, .error = error};
    PJRT_Error *other = api->PJRT_Error_GetCode(&args);
    mst_pjrt_error_drop(api, other);
    return other ? PJRT_Error_Code_INTERNAL : args.code;
}

mst_status mst_pjrt_error_take(const PJRT_Api *api, PJRT_Error *error, char message[MST_PJRT_MESSAGE]) {
    PJRT_Error_Message_Args text = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE, .error = error};
    api->PJRT_Error_Message(&text);
    mst_pjrt_line(text.message, text.message_size, message, MST_PJRT_MESSAGE);
    const mst_status status = status_of(mst_pjrt_error_code(api, error));
    mst_pjrt_error_drop(api, error);
    return status;
}

const char *mst_pjrt_advice(mst_status status) {
    switch (status) {
        case MST_OUT_OF_MEMORY: return ": take smaller batches, more devices, or recompute values";
        case MST_UNAVAILABLE:
            return ": see to the device and its driver, and start again: with checkpoints, training goes on from the "
                   "last";
        default: return "";
    }
}

mst_status mst_pjrt_check(const PJRT_Api *api, PJRT_Error *error, const char *what) {
    char message[MST_PJRT_MESSAGE];
    if (!error) return MST_OK;
    const mst_status status = mst_pjrt_error_take(api, error, message);
    return MST_FAIL(status, "%s: the plugin says: %s%s", what, message, mst_pjrt_advice(status));
}

void mst_pjrt_event_drop(const PJRT_Api *api, PJRT_Event *event) {
    PJRT_Event_Destroy_Args args = {.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE, .event = event};
    if (event) mst_pjrt_error_drop(api, api->PJRT_Event_Destroy(&args));
}

/* ---- loading ---- */

/* A function that this module needs: its name, and its offset in the table. */
typedef struct needed_function {
    const char *name;
    size_t offset;
} needed_function;

#define NEEDED(name) \
    { #name, offsetof(PJRT_Api, name) }

static const needed_function needed_functions[] = {NEEDED(PJRT_Error_Destroy),
                                                   NEEDED(PJRT_Error_Message),
                                                   NEEDED(PJRT_Error_GetCode),
                                                   NEEDED(PJRT_Event_Destroy),
                                                   NEEDED(PJRT_Event_OnReady),
                                                   NEEDED(PJRT_Client_Create),
                                                   NEEDED(PJRT_Client_PlatformName),
                                                   NEEDED(PJRT_Client_AddressableDevices),
                                                   NEEDED(PJRT_Client_Compile),
                                                   NEEDED(PJRT_Client_BufferFromHostBuffer),
                                                   NEEDED(PJRT_Executable_Destroy),
                                                   NEEDED(PJRT_Executable_NumOutputs),
                                                   NEEDED(PJRT_LoadedExecutable_Destroy),
                                                   NEEDED(PJRT_LoadedExecutable_GetExecutable),
                                                   NEEDED(PJRT_LoadedExecutable_Execute),
                                                   NEEDED(PJRT_Buffer_Destroy),
                                                   NEEDED(PJRT_Buffer_ToHostBuffer)};

static mst_status check_functions(const char *path, const PJRT_Api *api) {
    enum { COUNT = sizeof needed_functions / sizeof *needed_functions };
    for (int i = 0; i < COUNT; i++) {
        void *function;
        memcpy(&function, (const char *)api + needed_functions[i].offset, sizeof function);
        if (!function)
            return MST_FAIL(MST_UNAVAILABLE, "plugin '%s': has no %s: use another version of it", path,
                            needed_functions[i].name);
    }
    return MST_OK;
}

static mst_status check_version(const char *path, const PJRT_Api *theirs) {
    if (!theirs || theirs->struct_size < offsetof(PJRT_Api, PJRT_Error_Destroy))
        return MST_FAIL(MST_UNAVAILABLE, "plugin '%s': gives no table of the PJRT API", path);
    const int major = theirs->pjrt_api_version.major_version, minor = theirs->pjrt_api_version.minor_version;
    if (major == PJRT_API_MAJOR && minor >= MST_PJRT_OLDEST_MINOR) return MST_OK;
    return MST_FAIL(
        MST_UNAVAILABLE,
        "plugin '%s': has version %d.%d of the PJRT API, which is too %s: use a plugin with %d.%d or a later "
        "%d.*",
        path, major, minor, major > PJRT_API_MAJOR ? "new" : "old", PJRT_API_MAJOR, MST_PJRT_OLDEST_MINOR,
        PJRT_API_MAJOR);
}

mst_status mst_pjrt_attributes(const PJRT_Api *api, const PJRT_NamedValue **out, size_t *count) {
    PJRT_Plugin_Attributes_Args args = {.struct_size = PJRT_Plugin_Attributes_Args_STRUCT_SIZE};
    *out = NULL;
    *count = 0;
    if (!api->PJRT_Plugin_Attributes) return MST_OK;
    MST_TRY(mst_pjrt_check(api, api->PJRT_Plugin_Attributes(&args), "asking for versions"));
    *out = args.attributes;
    *count = args.num_attributes;
    return MST_OK;
}

mst_status mst_pjrt_stablehlo_version(const PJRT_Api *api, const PJRT_NamedValue **out) {
    static const char name[] = "stablehlo_current_version";
    const PJRT_NamedValue *attribute;
    size_t count;
    *out = NULL;
    MST_TRY(mst_pjrt_attributes(api, &attribute, &count));
    for (const PJRT_NamedValue *a = attribute; a < attribute + count; a++)
        if (a->name_size == sizeof name - 1 && memcmp(a->name, name, sizeof name - 1) == 0 &&
            a->type == PJRT_NamedValue_kInt64List && a->value_size)
            *out = a;
    return MST_OK;
}

/* Programs are written in StableHLO 1.0 or later. A plugin that does not report its version is accepted. */
static mst_status check_stablehlo(const char *path, const PJRT_Api *api) {
    const PJRT_NamedValue *version;
    MST_TRY(mst_pjrt_stablehlo_version(api, &version));
    if (!version || version->int64_array_value[0] >= 1) return MST_OK;
    return MST_FAIL(MST_UNAVAILABLE, "plugin '%s': knows StableHLO %lld only: use a plugin with StableHLO 1.0 or later",
                    path, (long long)version->int64_array_value[0]);
}

static mst_status initialize(const char *path, const PJRT_Api *api) {
    PJRT_Plugin_Initialize_Args args = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    MST_TRY(check_functions(path, api));
    if (api->PJRT_Plugin_Initialize)
        MST_TRY(mst_pjrt_check(api, api->PJRT_Plugin_Initialize(&args), "beginning to use the plugin"));
    return check_stablehlo(path, api);
}

/* The least size that the library FILE has if it is complete, in bytes, by its ELF headers; 0: not known. */
static long find_least_size(FILE *file) {
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    long least = 0;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
    if (head.e_phentsize != sizeof part) return 0;
    for (int i = 0; i < head.e_phnum; i++) {
        const long at = (long)(head.e_phoff + (size_t)i * sizeof part);
        if (fseek(file, at, SEEK_SET) || fread(&part, sizeof part, 1, file) != 1) return at + (long)sizeof part;
        const long end = (long)(part.p_offset + part.p_filesz);
        if (part.p_type == PT_LOAD && end > least) least = end;
    }
    return least;
}

/* A truncated library must not be loaded: reading the missing part would raise a signal. Other faults of the file are
 * left to dlopen. */
static mst_status check_size(const char *path) {
    FILE *file = fopen(path, "rbe");
    if (!file) return MST_OK;
    const long least = find_least_size(file), size = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    fclose(file);
    if (size < 0 || size >= least) return MST_OK;
    return MST_FAIL(MST_UNAVAILABLE, "plugin '%s': is cut off: it has %ld bytes and needs %ld: install it again", path,
                    size, least);
}

mst_status mst_pjrt_api_load(const char *path, PJRT_Api **out) {
    const PJRT_Api *(*get)(void);
    MST_TRY(check_size(path));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* never closed: plugins have threads */
    if (!library)
        return MST_FAIL(MST_UNAVAILABLE, "plugin: %s: name a plugin of PJRT, and install the libraries that it needs",
                        dlerror());
    void *symbol = dlsym(library, "GetPjrtApi");
    if (!symbol) return MST_FAIL(MST_UNAVAILABLE, "'%s' is no plugin of PJRT: it has no function GetPjrtApi", path);
    memcpy(&get, &symbol, sizeof get);
    const PJRT_Api *theirs = get();
    MST_TRY(check_version(path, theirs));
    PJRT_Api *api = calloc(1, sizeof *api);
    if (!api) return MST_NO_MEMORY("for a plugin");
    memcpy(api, theirs, theirs->struct_size < sizeof *api ? theirs->struct_size : sizeof *api);
    const mst_status status = initialize(path, api);
    if (status)
        free(api);
    else
        *out = api;
    return status;
}
