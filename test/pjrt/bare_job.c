#include "pjrt/bare_job.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

static const double PATIENCE = 60; /* seconds, for what will end */

static const char text[] =
    "module @add {\n"
    "  func.func public @main(%w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %0 = \"stablehlo.add\"(%w, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
    "    \"func.return\"(%0) : (tensor<4xf32>) -> ()\n"
    "  }\n"
    "}\n";
/* A CompileOptionsProto: one replica, one partition, for any device. */
static const char options[] = "\x1a\x04\x20\x01\x28\x01\x20\x01";

const float bare_w[BARE_COUNT] = {1, 2, 3, 4}, bare_b[BARE_COUNT] = {10, 20, 30, 40},
            bare_sum[BARE_COUNT] = {11, 22, 33, 44};

const PJRT_Api *bare_api;
shim_set_faults_function *bare_set_faults;
shim_count_function *bare_count;

double bare_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bare_rest(void) {
    const struct timespec moment = {.tv_nsec = 1000000};
    nanosleep(&moment, NULL);
}

static void *find(void *library, const char *name) {
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) print_message("%s: %s\n", name, dlerror());
    return symbol;
}

bool bare_load(void) {
    const PJRT_Api *(*get)(void) = NULL;
    void *library = dlopen(getenv("MUSTER_SHIM"), RTLD_NOW | RTLD_LOCAL);
    *(void **)&get = find(library, "GetPjrtApi");
    *(void **)&bare_set_faults = find(library, "shim_set_faults");
    *(void **)&bare_count = find(library, "shim_count");
    return get && bare_set_faults && bare_count && (bare_api = get()) != NULL;
}

bool bare_is_skipped(void) {
    const char *plugin = getenv("MUSTER_SHIM_PLUGIN");
    if (plugin && access(plugin, R_OK) == 0) return false;
    printf("skipped: MUSTER_SHIM_PLUGIN is '%s', must be a PJRT plugin\n", plugin ? plugin : "");
    return true;
}

/* ---- calls ---- */

bool bare_good(PJRT_Error *error, bare_problem *p) {
    if (!error) return true;
    BARE_MAKE(Error_Message, message);
    BARE_MAKE(Error_GetCode, code);
    BARE_MAKE(Error_Destroy, destroy);
    message.error = destroy.error = error;
    code.error = error;
    PJRT_Error *second = bare_api->PJRT_Error_GetCode(&code);
    if (second) {
        bare_good(second, p);
    } else if (!p->code) {
        bare_api->PJRT_Error_Message(&message);
        p->code = code.code;
        snprintf(p->message, sizeof p->message, "%.*s", (int)message.message_size, message.message);
    }
    bare_api->PJRT_Error_Destroy(&destroy);
    return false;
}

void bare_destroy_event(PJRT_Event *event, bare_problem *p) {
    BARE_MAKE(Event_Destroy, x);
    x.event = event;
    if (event) BARE_CALL(Event_Destroy, x);
}

void bare_destroy_buffer(PJRT_Buffer *buffer, bare_problem *p) {
    BARE_MAKE(Buffer_Destroy, x);
    x.buffer = buffer;
    if (buffer) BARE_CALL(Buffer_Destroy, x);
}

bool bare_await(PJRT_Event *event, bare_problem *p) {
    BARE_MAKE(Event_Await, x);
    x.event = event;
    return BARE_CALL(Event_Await, x);
}

bool bare_is_ready(PJRT_Event *event) {
    bare_problem none = {0}, *p = &none;
    BARE_MAKE(Event_IsReady, x);
    x.event = event;
    assert_true(BARE_CALL(Event_IsReady, x));
    return x.is_ready;
}

static void note_call(PJRT_Error *error, void *argument) {
    bare_called *x = argument;
    bare_good(error, &x->problem);
    atomic_store(&x->is_called, true);
}

bool bare_ask_for_callback(PJRT_Event *event, bare_called *x, bare_problem *p) {
    BARE_MAKE(Event_OnReady, on);
    on.event = event;
    on.callback = note_call;
    on.user_arg = x;
    return BARE_CALL(Event_OnReady, on);
}

void bare_wait_for_callback(bare_called *x) {
    const double end = bare_now() + PATIENCE;
    while (!atomic_load(&x->is_called) && bare_now() < end) bare_rest();
    assert_true(atomic_load(&x->is_called));
}

/* ---- a program ---- */

bool bare_make_client(bare_job *j, bare_problem *p) {
    PJRT_NamedValue number = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                              .name = "cpu_device_count",
                              .name_size = 16,
                              .type = PJRT_NamedValue_kInt64,
                              .int64_value = BARE_DEVICES,
                              .value_size = 1};
    BARE_MAKE(Client_Create, create);
    BARE_MAKE(Client_AddressableDevices, devices);
    create.create_options = &number;
    create.num_options = 1;
    if (!BARE_CALL(Client_Create, create)) return false;
    devices.client = j->client = create.client;
    if (!BARE_CALL(Client_AddressableDevices, devices)) return false;
    for (size_t i = 0; i < devices.num_addressable_devices && i < BARE_DEVICES; i++)
        j->device[i] = devices.addressable_devices[i];
    return true;
}

/* Asks a client for what a module reads of it. */
static bool ask(const bare_job *j, bare_problem *p) {
    BARE_MAKE(Client_PlatformName, name);
    BARE_MAKE(Client_PlatformVersion, version);
    BARE_MAKE(Device_GetDescription, describe);
    BARE_MAKE(DeviceDescription_Kind, kind);
    BARE_MAKE(DeviceDescription_Id, id);
    BARE_MAKE(Device_LocalHardwareId, hardware);
    BARE_MAKE(Device_MemoryStats, memory);
    name.client = version.client = j->client;
    describe.device = hardware.device = memory.device = j->device[0];
    if (!BARE_CALL(Client_PlatformName, name) || !BARE_CALL(Client_PlatformVersion, version) ||
        !BARE_CALL(Device_GetDescription, describe))
        return false;
    kind.device_description = id.device_description = describe.device_description;
    bare_problem unknown = {0}; /* the CPU plugin does not know its memory */
    if (!bare_good(bare_api->PJRT_Device_MemoryStats(&memory), &unknown) &&
        unknown.code != PJRT_Error_Code_UNIMPLEMENTED) {
        *p = unknown;
        return false;
    }
    return BARE_CALL(DeviceDescription_Kind, kind) && BARE_CALL(DeviceDescription_Id, id) &&
           BARE_CALL(Device_LocalHardwareId, hardware);
}

void bare_destroy_loaded(bare_job *j, bare_problem *p) {
    BARE_MAKE(LoadedExecutable_Destroy, x);
    x.executable = j->loaded;
    if (j->loaded) BARE_CALL(LoadedExecutable_Destroy, x);
    j->loaded = NULL;
}

bool bare_compile(bare_job *j, bare_problem *p) {
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)text,
                            .code_size = sizeof text - 1,
                            .format = "mlir",
                            .format_size = 4};
    BARE_MAKE(Client_Compile, x);
    x.client = j->client;
    x.program = &program;
    x.compile_options = options;
    x.compile_options_size = sizeof options - 1;
    if (!BARE_CALL(Client_Compile, x)) return false;
    j->loaded = x.executable;
    return true;
}

/* Takes the executable to bytes and back. */
static bool reload(bare_job *j, bare_problem *p) {
    BARE_MAKE(LoadedExecutable_GetExecutable, get);
    BARE_MAKE(Executable_NumOutputs, outputs);
    BARE_MAKE(Executable_GetCompiledMemoryStats, memory);
    BARE_MAKE(Executable_Serialize, bytes);
    BARE_MAKE(Executable_DeserializeAndLoad, from);
    BARE_MAKE(Executable_Destroy, destroy);
    get.loaded_executable = j->loaded;
    if (!BARE_CALL(LoadedExecutable_GetExecutable, get)) return false;
    outputs.executable = memory.executable = destroy.executable = get.executable;
    bytes.executable = get.executable;
    bool is_good = BARE_CALL(Executable_NumOutputs, outputs) && BARE_CALL(Executable_GetCompiledMemoryStats, memory) &&
                   BARE_CALL(Executable_Serialize, bytes);
    if (is_good) {
        bare_destroy_loaded(j, p);
        from.client = j->client;
        from.serialized_executable = bytes.serialized_bytes;
        from.serialized_executable_size = bytes.serialized_bytes_size;
        is_good = BARE_CALL(Executable_DeserializeAndLoad, from);
        if (is_good) j->loaded = from.loaded_executable;
        bytes.serialized_executable_deleter(bytes.serialized_executable);
    }
    return BARE_CALL(Executable_Destroy, destroy) && is_good;
}

static bool put(const bare_job *j, int device, const float *data, PJRT_Buffer **out, PJRT_Event **event,
                bare_problem *p) {
    static const int64_t dims[] = {BARE_COUNT};
    BARE_MAKE(Client_BufferFromHostBuffer, x);
    x.client = j->client;
    x.data = data;
    x.type = PJRT_Buffer_Type_F32;
    x.dims = dims;
    x.num_dims = 1;
    x.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
    x.device = j->device[device];
    if (!BARE_CALL(Client_BufferFromHostBuffer, x)) return false;
    *out = x.buffer;
    *event = x.done_with_host_buffer;
    return true;
}

bool bare_put_and_wait(const bare_job *j, int device, const float *data, PJRT_Buffer **out, bare_problem *p) {
    PJRT_Event *event = NULL;
    const bool is_good = put(j, device, data, out, &event, p) && bare_await(event, p);
    bare_destroy_event(event, p);
    return is_good;
}

bool bare_execute(bare_job *j, bare_problem *p) {
    PJRT_ExecuteOptions how = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *const *const sources[] = {j->source};
    PJRT_Buffer **const results[] = {&j->result};
    BARE_MAKE(LoadedExecutable_Execute, x);
    x.executable = j->loaded;
    x.options = &how;
    x.argument_lists = sources;
    x.num_devices = 1;
    x.num_args = 2;
    x.output_lists = results;
    x.device_complete_events = &j->done;
    x.execute_device = j->device[0];
    return BARE_CALL(LoadedExecutable_Execute, x);
}

bool bare_ready_event(PJRT_Buffer *buffer, PJRT_Event **event, bare_problem *p) {
    BARE_MAKE(Buffer_ReadyEvent, x);
    x.buffer = buffer;
    if (!BARE_CALL(Buffer_ReadyEvent, x)) return false;
    *event = x.event;
    return true;
}

bool bare_copy_to(const bare_job *j, int device, PJRT_Buffer *buffer, PJRT_Buffer **out, bare_problem *p) {
    BARE_MAKE(Buffer_CopyToDevice, x);
    x.buffer = buffer;
    x.dst_device = j->device[device];
    if (!BARE_CALL(Buffer_CopyToDevice, x)) return false;
    *out = x.dst_buffer;
    return true;
}

bool bare_start_to_host(PJRT_Buffer *buffer, float *to, PJRT_Event **event, bare_problem *p) {
    BARE_MAKE(Buffer_ToHostBuffer, x);
    x.src = buffer;
    x.dst = to;
    x.dst_size = BARE_COUNT * sizeof(float);
    if (!BARE_CALL(Buffer_ToHostBuffer, x)) return false;
    *event = x.event;
    return true;
}

bool bare_to_host(PJRT_Buffer *buffer, float *to, bare_problem *p) {
    PJRT_Event *event = NULL;
    const bool is_good = bare_start_to_host(buffer, to, &event, p) && bare_await(event, p);
    bare_destroy_event(event, p);
    return is_good;
}

/* Waits for an event in all ways that there are. */
static bool wait_well(PJRT_Event *event, bare_problem *p) {
    bare_called x = {0};
    BARE_MAKE(Event_IsReady, ready);
    BARE_MAKE(Event_Error, error);
    ready.event = error.event = event;
    if (!bare_ask_for_callback(event, &x, p)) return false;
    bare_wait_for_callback(&x);
    if (x.problem.code) *p = x.problem;
    return !x.problem.code && bare_await(event, p) && BARE_CALL(Event_IsReady, ready) && ready.is_ready &&
           BARE_CALL(Event_Error, error);
}

bool bare_begin_job(bare_job *j, bare_problem *p) {
    BARE_MAKE(Plugin_Initialize, initialize);
    BARE_MAKE(Plugin_Attributes, attributes);
    return BARE_CALL(Plugin_Initialize, initialize) && BARE_CALL(Plugin_Attributes, attributes) &&
           bare_make_client(j, p) && ask(j, p) && bare_compile(j, p) && reload(j, p);
}

bool bare_run_job(bare_job *j, bare_problem *p) {
    PJRT_Event *ready = NULL;
    bool is_good = bare_put_and_wait(j, 0, bare_w, &j->source[0], p) &&
                   bare_put_and_wait(j, 0, bare_b, &j->source[1], p) && bare_execute(j, p) && wait_well(j->done, p) &&
                   bare_ready_event(j->result, &ready, p) && bare_await(ready, p);
    bare_destroy_event(ready, p);
    return is_good && bare_copy_to(j, 1, j->result, &j->copy, p) && bare_to_host(j->copy, j->got, p);
}

void bare_end_run(bare_job *j, bare_problem *p) {
    for (int i = 0; i < 2; i++) bare_destroy_buffer(j->source[i], p);
    bare_destroy_buffer(j->result, p);
    bare_destroy_buffer(j->copy, p);
    bare_destroy_event(j->done, p);
    j->source[0] = j->source[1] = j->result = j->copy = NULL;
    j->done = NULL;
}

void bare_end_job(bare_job *j, bare_problem *p) {
    BARE_MAKE(Client_Destroy, x);
    bare_end_run(j, p);
    bare_destroy_loaded(j, p);
    x.client = j->client;
    if (j->client) BARE_CALL(Client_Destroy, x);
    *j = (bare_job){0};
}

bool bare_run_all(bare_problem *p) {
    bare_job j = {0};
    bool is_right = bare_begin_job(&j, p) && bare_run_job(&j, p);
    for (int i = 0; i < BARE_COUNT; i++) is_right = is_right && j.got[i] == bare_sum[i];
    bare_end_job(&j, p);
    return is_right && !p->code;
}

void bare_expect_nothing_alive(void) {
    static const char *const types[] = {"PJRT_Client", "PJRT_Executable", "PJRT_LoadedExecutable", "PJRT_Buffer",
                                        "PJRT_Event"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (bare_count(types[i]) != 0) fail_msg("%lld of %s are alive", (long long)bare_count(types[i]), types[i]);
}

void bare_expect_good(const bare_problem *p) {
    if (p->code) fail_msg("code %d: %s", (int)p->code, p->message);
}

void bare_expect_problem(const bare_problem *p, PJRT_Error_Code code, const char *message) {
    if (p->code != code || !strstr(p->message, message))
        fail_msg("code %d, '%s': wanted code %d, '%s'", (int)p->code, p->message, (int)code, message);
}

void bare_faults(const char *wanted) {
    const char *reason = bare_set_faults(wanted);
    if (reason) fail_msg("%s: %s", wanted, reason);
}
