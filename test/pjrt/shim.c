/* The plugin `shim`: a PJRT plugin that loads another one, the real plugin, and hands all calls on to it. Variables of
 * the environment name the calls that it treats otherwise. They are read when a process first calls GetPjrtApi. Who
 * uses the plugin does not know that it is there.
 *
 *   MUSTER_SHIM_PLUGIN=FILE            the real plugin
 *   MUSTER_SHIM_FAULTS=FAULT[;...]     which calls fail, wait or never end: see below
 *   MUSTER_SHIM_SPARED=FILE            there are no faults in the first of several processes, which makes this file
 *   MUSTER_SHIM_PLATFORM=NAME          the platform's name, such as cuda
 *   MUSTER_SHIM_PLATFORM_VERSION=TEXT  its version
 *   MUSTER_SHIM_API=MAJOR.MINOR        the version of the API
 *   MUSTER_SHIM_STABLEHLO=MAJOR.MINOR.PATCH  the version of StableHLO, where the real plugin names one
 *   MUSTER_SHIM_STRUCT_SIZE=BYTES      the size of PJRT_Api
 *   MUSTER_SHIM_LAST_FUNCTION=NAME     PJRT_Api ends behind this function, as in an older plugin
 *   MUSTER_SHIM_LEFT_OUT=NAME[;...]    these functions are NULL in PJRT_Api; `extensions`: there is no extension
 *   MUSTER_SHIM_KIND=TEXT[;...]        the kinds of the devices in the order of their identities; the last is that of
 *                                      all further ones
 *   MUSTER_SHIM_DEVICES=N              the number of devices, which are real ones: clients are made with the option
 *                                      that the CPU plugin has for this, and without the options of the caller, some
 *                                      of which only another platform may understand
 *   MUSTER_SHIM_BYTES_LIMIT=N          what PJRT_Device_MemoryStats says of each device, however much is in use. The
 *   MUSTER_SHIM_BYTES_IN_USE=N         CPU plugin does not implement this function
 *   MUSTER_SHIM_COUNTS=FILE            at its end the process writes a line "NAME NUMBER" for each function: how often
 *                                      it was called; and for each type of object: how many are alive
 *   MUSTER_SHIM_OPTIONS=FILE           a line "NAME VALUE" is appended for each option with which a client is made
 *
 * A fault is "FUNCTION CALL ACTION", with names such as PJRT_Client_Compile. CALL is the number of a call of that
 * function, from 1; 3+ is the third and all after it. If several faults meet a call, the first of them counts.
 *
 *   fail [CODE [MESSAGE]]     the call is not handed on, but fails. CODE is a name without PJRT_Error_Code_; unless
 *                             there is one, INTERNAL. Functions that free an object do so before they fail
 *   refuse [CODE [MESSAGE]]   the same with INVALID_ARGUMENT. Before it fails, it prints lines on standard error, as
 *                             compilers do that refuse a program, unless TF_CPP_MIN_LOG_LEVEL is above 2
 *   delay SECONDS             the call is handed on so much later
 *   hold FILE                 it is handed on once there is no file of that name
 *   stuck                     it never ends
 *   die                       the process ends, as by an error in the plugin
 *   lost DEVICE [CODE [MESSAGE]]
 *                             CALL counts calls of FUNCTION for the device with that identity. From this call on, all
 *                             calls that work with the device or its buffers fail, with UNAVAILABLE
 *
 * The following concern what a call starts. The call is handed on, but the events and buffers that it gives become
 * ready late. So does all that is computed or copied from such a buffer. A late copy to the host writes its bytes only
 * then.
 *
 *   event_delay SECONDS       so much later
 *   event_hold FILE           once there is no file of that name
 *   event_stuck               never
 *   event_fail SECONDS [CODE [MESSAGE]]
 *                             so much later, and then they fail, with INTERNAL
 *   flip BIT                  of PJRT_Buffer_ToHostBuffer: nothing is late, but this bit of what is copied, counted
 *                             from 0, is wrong
 *
 * The memory behind the end of PJRT_Api cannot be read, whatever its size. Errors in the variables are printed, and
 * GetPjrtApi returns NULL. Calls of extensions are not seen. Functions for tests in the same process are in shim.h. */
#include "pjrt/shim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pjrt/shim_call.h"
#include "pjrt/shim_functions.h"
#include "pjrt/shim_late.h"

enum { MOST_KINDS = 16, MOST_ATTRIBUTES = 64, LOG_LINES = 40 };

static const PJRT_Api *real;

/* ---- variables of the environment ---- */

static struct settings {
    const char *platform, *platform_version, *stablehlo, *counts, *options;
    char *kind[MOST_KINDS];
    int num_kinds;
    long long devices, bytes_limit, bytes_in_use, struct_size; /* -1: as the real plugin says */
    int major, minor;                                          /* -1 */
    int64_t stablehlo_version[3];
    bool logs;
} settings;

static bool wrong(const char *what, const char *text) {
    fprintf(stderr, "shim: %s: '%s'\n", what, text ? text : "");
    return false;
}

/* NULL: it is not set. */
static const char *find_text(const char *variable) {
    const char *text = getenv(variable);
    return text && *text ? text : NULL;
}

static bool find_number(const char *variable, long long *out) {
    const char *text = find_text(variable);
    char *end = NULL;
    *out = -1;
    if (!text) return true;
    *out = strtoll(text, &end, 10);
    return *end || *out < 0 ? wrong(variable, text) : true;
}

/* COUNT numbers with dots between them. False: TEXT is something else. */
static bool read_version(const char *text, int count, long long *out) {
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        out[i] = strtoll(text, &end, 10);
        if (end == text || out[i] < 0 || *end != (i + 1 < count ? '.' : '\0')) return false;
        text = end + 1;
    }
    return true;
}

static bool read_versions(void) {
    const char *api = find_text("MUSTER_SHIM_API");
    long long number[3] = {-1, -1, -1};
    if (api && !read_version(api, 2, number)) return wrong("MUSTER_SHIM_API", api);
    settings.major = (int)number[0];
    settings.minor = (int)number[1];
    settings.stablehlo = find_text("MUSTER_SHIM_STABLEHLO");
    if (settings.stablehlo && !read_version(settings.stablehlo, 3, number))
        return wrong("MUSTER_SHIM_STABLEHLO", settings.stablehlo);
    for (int i = 0; i < 3; i++) settings.stablehlo_version[i] = number[i];
    return true;
}

static bool read_kinds(void) {
    const char *text = find_text("MUSTER_SHIM_KIND");
    char *rest = NULL, *copy = text ? strdup(text) : NULL; /* names are valid as long as the process */
    for (char *kind = copy ? strtok_r(copy, ";", &rest) : NULL; kind; kind = strtok_r(NULL, ";", &rest)) {
        if (settings.num_kinds == MOST_KINDS) return wrong("MUSTER_SHIM_KIND has too many kinds", text);
        settings.kind[settings.num_kinds++] = kind;
    }
    return true;
}

/* Whether this process has no faults. */
static bool is_spared(void) {
    const char *path = find_text("MUSTER_SHIM_SPARED");
    const int file = path ? open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (file >= 0) close(file);
    return file >= 0;
}

static bool read_settings(void) {
    settings.platform = find_text("MUSTER_SHIM_PLATFORM");
    settings.platform_version = find_text("MUSTER_SHIM_PLATFORM_VERSION");
    settings.counts = find_text("MUSTER_SHIM_COUNTS");
    settings.options = find_text("MUSTER_SHIM_OPTIONS");
    const char *level = find_text("TF_CPP_MIN_LOG_LEVEL"), *faults = find_text("MUSTER_SHIM_FAULTS");
    settings.logs = !level || strtol(level, NULL, 10) <= 2;
    if (!find_number("MUSTER_SHIM_DEVICES", &settings.devices) ||
        !find_number("MUSTER_SHIM_BYTES_LIMIT", &settings.bytes_limit) ||
        !find_number("MUSTER_SHIM_BYTES_IN_USE", &settings.bytes_in_use) ||
        !find_number("MUSTER_SHIM_STRUCT_SIZE", &settings.struct_size) || !read_versions() || !read_kinds())
        return false;
    const char *error = faults && !is_spared() ? shim_faults_set(faults) : NULL;
    return error ? wrong("MUSTER_SHIM_FAULTS", error) : true;
}

static _Atomic int64_t calls[SHIM_NUM_FUNCTIONS];

/* ---- functions that answer otherwise than the real plugin ---- */

/* Whether the caller's arguments have MEMBER. */
#define HAS(a, member) ((a)->struct_size >= offsetof(__typeof__(*(a)), member) + sizeof((a)->member))

static void set_text(const char *text, const char **out, size_t *size) {
    if (!text) return;
    *out = text;
    *size = strlen(text);
}

static PJRT_Error *platform_name(void *args) {
    PJRT_Client_PlatformName_Args *a = args;
    PJRT_Error *error = real->PJRT_Client_PlatformName(a);
    if (!error) set_text(settings.platform, &a->platform_name, &a->platform_name_size);
    return error;
}

static PJRT_Error *platform_version(void *args) {
    PJRT_Client_PlatformVersion_Args *a = args;
    PJRT_Error *error = real->PJRT_Client_PlatformVersion(a);
    if (!error) set_text(settings.platform_version, &a->platform_version, &a->platform_version_size);
    return error;
}

static PJRT_Error *topology_name(void *args) {
    PJRT_TopologyDescription_PlatformName_Args *a = args;
    PJRT_Error *error = real->PJRT_TopologyDescription_PlatformName(a);
    if (!error) set_text(settings.platform, &a->platform_name, &a->platform_name_size);
    return error;
}

static PJRT_Error *topology_version(void *args) {
    PJRT_TopologyDescription_PlatformVersion_Args *a = args;
    PJRT_Error *error = real->PJRT_TopologyDescription_PlatformVersion(a);
    if (!error) set_text(settings.platform_version, &a->platform_version, &a->platform_version_size);
    return error;
}

static PJRT_Error *kind(void *args) {
    PJRT_DeviceDescription_Kind_Args *a = args;
    PJRT_Error *error = real->PJRT_DeviceDescription_Kind(a);
    if (error || settings.num_kinds == 0) return error;
    SHIM_MAKE_ARGS(DeviceDescription_Id, id);
    id.device_description = a->device_description;
    if ((error = real->PJRT_DeviceDescription_Id(&id))) return error;
    const int last = settings.num_kinds - 1;
    set_text(settings.kind[id.id >= 0 && id.id < last ? id.id : last], &a->device_kind, &a->device_kind_size);
    return NULL;
}

static PJRT_Error *memory_stats(void *args) {
    PJRT_Device_MemoryStats_Args *a = args;
    if (settings.bytes_limit < 0 && settings.bytes_in_use < 0) return real->PJRT_Device_MemoryStats(a);
    if (!HAS(a, bytes_limit_is_set))
        return shim_error_make(PJRT_Error_Code_INVALID_ARGUMENT,
                               "shim: PJRT_Device_MemoryStats: struct_size is too small");
    memset(
        (char *)a + offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use), 0,
        offsetof(PJRT_Device_MemoryStats_Args, bytes_reserved) - offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use));
    a->bytes_in_use = settings.bytes_in_use < 0 ? 0 : settings.bytes_in_use;
    a->bytes_limit_is_set = settings.bytes_limit >= 0;
    a->bytes_limit = a->bytes_limit_is_set ? settings.bytes_limit : 0;
    return NULL;
}

static PJRT_Error *attributes(void *args) {
    static PJRT_NamedValue own[MOST_ATTRIBUTES]; /* valid as long as the process, as the interface wants */
    static const char name[] = "stablehlo_current_version";
    PJRT_Plugin_Attributes_Args *a = args;
    PJRT_Error *error = real->PJRT_Plugin_Attributes(a);
    if (error || !settings.stablehlo) return error;
    if (a->num_attributes > MOST_ATTRIBUTES)
        return shim_error_make(PJRT_Error_Code_INTERNAL, "shim: PJRT_Plugin_Attributes: there are too many");
    for (size_t i = 0; i < a->num_attributes; i++) {
        own[i] = a->attributes[i];
        if (own[i].name_size != sizeof name - 1 || memcmp(own[i].name, name, sizeof name - 1) != 0) continue;
        own[i].type = PJRT_NamedValue_kInt64List;
        own[i].int64_array_value = settings.stablehlo_version;
        own[i].value_size = 3;
    }
    a->attributes = own;
    return NULL;
}

static void write_value(FILE *file, const PJRT_NamedValue *x) {
    fprintf(file, "%.*s ", (int)x->name_size, x->name);
    switch (x->type) {
        case PJRT_NamedValue_kString: fprintf(file, "%.*s", (int)x->value_size, x->string_value); break;
        case PJRT_NamedValue_kInt64: fprintf(file, "%lld", (long long)x->int64_value); break;
        case PJRT_NamedValue_kInt64List:
            for (size_t i = 0; i < x->value_size; i++)
                fprintf(file, "%s%lld", i ? "," : "", (long long)x->int64_array_value[i]);
            break;
        case PJRT_NamedValue_kFloat: fprintf(file, "%g", (double)x->float_value); break;
        case PJRT_NamedValue_kBool: fputs(x->bool_value ? "true" : "false", file); break;
    }
    fputc('\n', file);
}

static void write_options(const PJRT_Client_Create_Args *a) {
    FILE *file = settings.options ? fopen(settings.options, "a") : NULL;
    for (size_t i = 0; file && i < a->num_options; i++) write_value(file, &a->create_options[i]);
    if (settings.options && (!file || fclose(file))) wrong("cannot write MUSTER_SHIM_OPTIONS", settings.options);
}

static PJRT_Error *create_client(void *args) {
    static const char name[] = "cpu_device_count";
    PJRT_Client_Create_Args *a = args;
    write_options(a);
    if (settings.devices < 0) return real->PJRT_Client_Create(a);
    const PJRT_NamedValue *options = a->create_options, count = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                                                 .name = name,
                                                                 .name_size = sizeof name - 1,
                                                                 .type = PJRT_NamedValue_kInt64,
                                                                 .int64_value = settings.devices,
                                                                 .value_size = 1};
    const size_t num_options = a->num_options;
    a->create_options = &count;
    a->num_options = 1;
    PJRT_Error *error = real->PJRT_Client_Create(a);
    a->create_options = options;
    a->num_options = num_options;
    return error;
}

typedef PJRT_Error *call(void *args);

/* NULL: the real plugin's. */
static call *const own[SHIM_NUM_FUNCTIONS] = {
    [SHIM_Error_Destroy] = shim_late_Error_Destroy,
    [SHIM_Error_Message] = shim_late_Error_Message,
    [SHIM_Error_GetCode] = shim_late_Error_GetCode,
    [SHIM_Event_IsReady] = shim_late_Event_IsReady,
    [SHIM_Event_Error] = shim_late_Event_Error,
    [SHIM_Event_Await] = shim_late_Event_Await,
    [SHIM_Event_OnReady] = shim_late_Event_OnReady,
    [SHIM_Plugin_Attributes] = attributes,
    [SHIM_Client_Create] = create_client,
    [SHIM_Client_PlatformName] = platform_name,
    [SHIM_Client_PlatformVersion] = platform_version,
    [SHIM_TopologyDescription_PlatformName] = topology_name,
    [SHIM_TopologyDescription_PlatformVersion] = topology_version,
    [SHIM_DeviceDescription_Kind] = kind,
    [SHIM_Device_MemoryStats] = memory_stats,
};

/* ---- calls ---- */

static void print_log(const char *message) {
    for (int i = 0; settings.logs && i < LOG_LINES; i++)
        fprintf(stderr, "E0000 00:00:00.000000 %d shim.cc:%d] %s\n", (int)getpid(), i + 1, message);
}

/* Hands a call on. */
static PJRT_Error *hand_on(int place, void *args, call *to, const shim_fault *fault) {
    PJRT_Buffer_ToHostBuffer_Args *copy = place == SHIM_Buffer_ToHostBuffer ? args : NULL;
    shim_call_destroys(place, args);
    if (fault && copy && copy->dst) {
        PJRT_Error *error = shim_late_to_host(copy, fault);
        if (!error) shim_call_gave(place, args, NULL); /* its event has the outcome */
        return error;
    }
    PJRT_Error *error = own[place] ? own[place](args) : to(args);
    if (!error) shim_call_gave(place, args, fault);
    return error;
}

/* A call of the function at PLACE, for which the real plugin has TO. */
static PJRT_Error *make_call(int place, void *args, call *to) {
    int device[SHIM_MOST_DEVICES_OF_CALL];
    const int num_devices = shim_faults_lose_devices() ? shim_call_devices(place, args, device) : 0;
    shim_fault fault;
    atomic_fetch_add(&calls[place], 1);
    if (!shim_fault_next(place, num_devices, device, &fault))
        return hand_on(place, args, to, shim_call_source_outcome(place, args, &fault) ? &fault : NULL);
    if (fault.effect == SHIM_EVENT || fault.effect == SHIM_FLIP) return hand_on(place, args, to, &fault);
    if (fault.effect == SHIM_DIE) abort();
    shim_wait(&fault.until);
    if (fault.effect == SHIM_WAIT)
        return hand_on(place, args, to, shim_call_source_outcome(place, args, &fault) ? &fault : NULL);
    if (fault.effect == SHIM_REFUSE) print_log(fault.message);
    if (shim_call_frees(place)) shim_destroy_real(hand_on(place, args, to, NULL));
    return shim_error_make(fault.code, fault.message);
}

#define FUNCTION(name)                                         \
    static PJRT_Error *real_##name(void *args) {               \
        return real->PJRT_##name(args);                        \
    }                                                          \
    static PJRT_Error *shim_##name(PJRT_##name##_Args *args) { \
        return make_call(SHIM_##name, args, real_##name);      \
    }
#define VOID_FUNCTION(name)                             \
    static void shim_##name(PJRT_##name##_Args *args) { \
        make_call(SHIM_##name, args, NULL);             \
    }
SHIM_FUNCTIONS(FUNCTION, VOID_FUNCTION)
#undef FUNCTION
#undef VOID_FUNCTION

/* ---- PJRT_Api ---- */

#define PLACE(name) offsetof(PJRT_Api, PJRT_##name),
static const size_t places[] = {SHIM_FUNCTIONS(PLACE, PLACE)};
#undef PLACE

#if PJRT_API_MAJOR == 0 && PJRT_API_MINOR == 81
_Static_assert(offsetof(PJRT_Api, PJRT_Error_Destroy) + sizeof(void *) * SHIM_NUM_FUNCTIONS == PJRT_Api_STRUCT_SIZE,
               "the list of functions is whole");
#endif

/* Sets the pointer of the function at PLACE in an API of SIZE bytes to NULL; false: it has none. */
static bool leave_out(char *api, size_t size, const char *name) {
    if (!strcmp(name, "extensions")) {
        ((PJRT_Api *)api)->extension_start = NULL;
        return true;
    }
    const int place = shim_find_function(name);
    if (place < 0 || places[place] + sizeof(void *) > size) return wrong("the plugin has no such function", name);
    memset(api + places[place], 0, sizeof(void *));
    return true;
}

static bool leave_out_all(char *api, size_t size) {
    const char *text = find_text("MUSTER_SHIM_LEFT_OUT");
    char *copy = text ? strdup(text) : NULL, *rest = NULL;
    bool is_done = true;
    for (char *name = copy ? strtok_r(copy, ";", &rest) : NULL; name && is_done; name = strtok_r(NULL, ";", &rest))
        is_done = leave_out(api, size, name);
    free(copy);
    return is_done;
}

/* Sets SIZE, that of the real plugin's API, to what is asked for. */
static bool find_size(size_t *size) {
    const char *last = find_text("MUSTER_SHIM_LAST_FUNCTION");
    const int place = last ? shim_find_function(last) : 0;
    if (place < 0 || places[place] + sizeof(void *) > *size) return wrong("the plugin has no such function", last);
    if (last) *size = places[place] + sizeof(void *);
    return true;
}

/* A copy of the SIZE bytes at API in memory that ends where they end: to read behind them is to crash. */
static const PJRT_Api *close_end(const PJRT_Api *api, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = sizeof(void *) - 1,
                 room = (size + page - 1) / page * page, used = (size + whole) & ~whole;
    char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE)) return NULL;
    memcpy(memory + room - used, api, size);
    return (const PJRT_Api *)(memory + room - used);
}

static const PJRT_Api *make_api(void) {
    size_t size = real->struct_size;
    char *copy = calloc(1, size + sizeof(PJRT_Api));
    if (!copy || !find_size(&size)) {
        free(copy);
        return NULL;
    }
    memcpy(copy, real, size); /* functions that this one does not know too */
    PJRT_Api *api = (PJRT_Api *)copy;
    const bool tells_memory = settings.bytes_limit >= 0 || settings.bytes_in_use >= 0;
#define REPLACE(name)                                                                   \
    if (offsetof(PJRT_Api, PJRT_##name) < size &&                                       \
        (api->PJRT_##name || (tells_memory && SHIM_##name == SHIM_Device_MemoryStats))) \
        api->PJRT_##name = shim_##name;
    SHIM_FUNCTIONS(REPLACE, REPLACE)
#undef REPLACE
    if (settings.major >= 0) {
        api->pjrt_api_version.major_version = settings.major;
        api->pjrt_api_version.minor_version = settings.minor;
    }
    const PJRT_Api *made = NULL;
    if (leave_out_all(copy, size)) {
        api->struct_size = settings.struct_size < 0 ? size : (size_t)settings.struct_size;
        if (api->struct_size < size) size = api->struct_size;
        made = close_end(api, size < sizeof api->struct_size ? sizeof api->struct_size : size);
    }
    free(copy);
    return made;
}

static const PJRT_Api *made_api;

static void begin(void) {
    const char *file = find_text("MUSTER_SHIM_PLUGIN");
    if (!file) {
        wrong("MUSTER_SHIM_PLUGIN is not set", NULL);
        return;
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        wrong("MUSTER_SHIM_PLUGIN", dlerror());
        return;
    }
    const PJRT_Api *(*get)(void) = NULL;
    *(void **)&get = dlsym(library, "GetPjrtApi");
    if (!get || !(real = get())) {
        wrong("MUSTER_SHIM_PLUGIN is no plugin", file);
        return;
    }
    shim_call_begin(real);
    shim_late_begin(real);
    if (read_settings()) made_api = make_api();
}

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    return made_api;
}

/* ---- for tests ---- */

__attribute__((visibility("default"))) shim_set_faults_function shim_set_faults;
const char *shim_set_faults(const char *faults) {
    return shim_faults_set(faults);
}

__attribute__((visibility("default"))) shim_count_function shim_count;
int64_t shim_count(const char *name) {
    const int place = shim_find_function(name);
    if (place >= 0) return atomic_load(&calls[place]);
    for (int i = 0; i < SHIM_NUM_OBJECTS; i++)
        if (!strcmp(name, shim_object_names[i])) return shim_objects_alive((shim_object)i);
    return -1;
}

static void write_counts(const char *path) {
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < SHIM_NUM_FUNCTIONS; i++)
        fprintf(file, "%s %lld\n", shim_function_name(i), (long long)atomic_load(&calls[i]));
    for (int i = 0; file && i < SHIM_NUM_OBJECTS; i++)
        fprintf(file, "%s %lld\n", shim_object_names[i], (long long)shim_objects_alive((shim_object)i));
    if (!file || fclose(file)) wrong("cannot write MUSTER_SHIM_COUNTS", path);
}

__attribute__((destructor)) static void end(void) {
    if (made_api && settings.counts) write_counts(settings.counts);
}
