#include "bench/pjrt/recorder.h"

#include <dlfcn.h>
#include <pjrt_c_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAKE(name, variable) PJRT_##name##_Args variable = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE}
#define EXPORTED __attribute__((visibility("default")))

enum { MOST_CALLS = 256, MOST_BUFFERS = 64, MOST_DIMENSIONS = 8, MOST_COUNTED = 1 << 16 };

static const PJRT_Api *real;
static PJRT_Api own;
static PJRT_Client *client;

/* ---- times of a start ---- */

static double load_began, client_made;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_start(void) {
    static atomic_flag is_written = ATOMIC_FLAG_INIT;
    const char *path = getenv("MUSTER_BENCH_START");
    if (!path || atomic_flag_test_and_set(&is_written)) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%.9f %.9f %.9f\n", load_began, client_made, now());
    fclose(file);
}

/* ---- idle time ---- */

static struct idle {
    atomic_bool is_on;
    pthread_mutex_t lock;
    int under_way;  /* programs */
    double ended;   /* when the last of them had ended; 0: none has */
    double seconds; /* without any */
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whether the program that begins is noted. */
static bool begin_program(void) {
    if (!atomic_load_explicit(&idle.is_on, memory_order_relaxed)) return false;
    pthread_mutex_lock(&idle.lock);
    if (idle.under_way++ == 0 && idle.ended > 0) idle.seconds += now() - idle.ended;
    pthread_mutex_unlock(&idle.lock);
    return true;
}

static void forget_program(void) {
    pthread_mutex_lock(&idle.lock);
    idle.under_way--;
    pthread_mutex_unlock(&idle.lock);
}

static void end_program(PJRT_Error *error, void *event) {
    MAKE(Event_Destroy, destroy);
    MAKE(Error_Destroy, drop);
    pthread_mutex_lock(&idle.lock);
    if (--idle.under_way == 0) idle.ended = now();
    pthread_mutex_unlock(&idle.lock);
    drop.error = error;
    if (error) real->PJRT_Error_Destroy(&drop);
    destroy.event = event;
    real->PJRT_Event_Destroy(&destroy);
}

/* Calls end_program when OUTPUT, of a program that has begun, is there. */
static void await_program(PJRT_Buffer *output) {
    MAKE(Buffer_ReadyEvent, get);
    MAKE(Event_OnReady, ask);
    get.buffer = output;
    if (!real->PJRT_Buffer_ReadyEvent(&get)) {
        ask.event = get.event;
        ask.callback = end_program;
        ask.user_arg = get.event;
        if (!real->PJRT_Event_OnReady(&ask)) return;
    }
    forget_program();
}

EXPORTED double recorder_idle(void) {
    atomic_store(&idle.is_on, true);
    pthread_mutex_lock(&idle.lock);
    const double seconds = idle.seconds;
    idle.seconds = 0;
    pthread_mutex_unlock(&idle.lock);
    return seconds;
}

/* ---- bytes of buffers ---- */

typedef struct counted_buffer {
    PJRT_Buffer *buffer;
    int64_t bytes;
} counted_buffer;

static struct counts {
    atomic_bool is_on;
    pthread_mutex_t lock;
    counted_buffer buffer[MOST_COUNTED];
    int count;
    int64_t bytes, most;
} counts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_made(PJRT_Buffer *buffer) {
    MAKE(Buffer_OnDeviceSizeInBytes, size);
    size.buffer = buffer;
    if (!atomic_load_explicit(&counts.is_on, memory_order_relaxed)) return;
    if (real->PJRT_Buffer_OnDeviceSizeInBytes(&size)) return;
    pthread_mutex_lock(&counts.lock);
    if (counts.count < MOST_COUNTED) {
        counts.buffer[counts.count++] = (counted_buffer){buffer, (int64_t)size.on_device_size_in_bytes};
        counts.bytes += (int64_t)size.on_device_size_in_bytes;
        if (counts.bytes > counts.most) counts.most = counts.bytes;
    }
    pthread_mutex_unlock(&counts.lock);
}

static void count_freed(const PJRT_Buffer *buffer) {
    if (!atomic_load_explicit(&counts.is_on, memory_order_relaxed)) return;
    pthread_mutex_lock(&counts.lock);
    int i = counts.count - 1;
    while (i >= 0 && counts.buffer[i].buffer != buffer) i--;
    if (i >= 0) {
        counts.bytes -= counts.buffer[i].bytes;
        counts.buffer[i] = counts.buffer[--counts.count];
    }
    pthread_mutex_unlock(&counts.lock);
}

EXPORTED int64_t recorder_bytes(void) {
    pthread_mutex_lock(&counts.lock);
    const int64_t most = counts.most;
    counts.most = counts.bytes;
    pthread_mutex_unlock(&counts.lock);
    atomic_store(&counts.is_on, true);
    return most;
}

/* ---- the record ---- */

/* A buffer of a recorded call: one that a recorded call gives, or one that was there before. */
typedef struct operand {
    int call; /* that gives it; -1: none */
    int output;
    PJRT_Buffer *buffer; /* in the record */
} operand;

typedef enum call_kind { COPY_IN, EXECUTE, COPY_OUT } call_kind;

typedef struct recorded_call {
    call_kind kind;
    PJRT_Client_BufferFromHostBuffer_Args in;
    int64_t dims[MOST_DIMENSIONS];
    PJRT_LoadedExecutable_Execute_Args execute;
    PJRT_Buffer_ToHostBuffer_Args out;
    operand source[MOST_BUFFERS];
    int num_sources, num_outputs;
    PJRT_Buffer *recorded[MOST_BUFFERS], *output[MOST_BUFFERS]; /* of the record, and of the call made again */
    void *bytes;                                                /* of the host */
    PJRT_Event *event;
} recorded_call;

static struct record {
    atomic_bool is_open;
    bool is_full;
    pthread_mutex_t lock;
    recorded_call call[MOST_CALLS];
    int num_calls;
    PJRT_Buffer *kept[MOST_CALLS * MOST_BUFFERS]; /* that the module has freed meanwhile */
    int num_kept;
} record = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The next call of the record, with the lock held; NULL: it is not open, and the lock is not held. */
static recorded_call *open_call(call_kind kind, size_t sources, size_t outputs) {
    if (!atomic_load_explicit(&record.is_open, memory_order_relaxed)) return NULL;
    pthread_mutex_lock(&record.lock);
    if (record.num_calls == MOST_CALLS || sources > MOST_BUFFERS || outputs > MOST_BUFFERS) {
        record.is_full = true;
        pthread_mutex_unlock(&record.lock);
        return NULL;
    }
    recorded_call *c = &record.call[record.num_calls++];
    *c = (recorded_call){.kind = kind, .num_sources = (int)sources, .num_outputs = (int)outputs};
    return c;
}

static operand find_operand(PJRT_Buffer *buffer) {
    for (int i = record.num_calls - 2; i >= 0; i--)
        for (int k = 0; k < record.call[i].num_outputs; k++)
            if (record.call[i].recorded[k] == buffer) return (operand){i, k, buffer};
    return (operand){-1, 0, buffer};
}

static size_t size_of(PJRT_Buffer_Type type) {
    switch (type) {
        case PJRT_Buffer_Type_PRED:
        case PJRT_Buffer_Type_S8:
        case PJRT_Buffer_Type_U8: return 1;
        case PJRT_Buffer_Type_BF16:
        case PJRT_Buffer_Type_F16:
        case PJRT_Buffer_Type_S16:
        case PJRT_Buffer_Type_U16: return 2;
        case PJRT_Buffer_Type_F64:
        case PJRT_Buffer_Type_S64:
        case PJRT_Buffer_Type_U64: return 8;
        default: return 4;
    }
}

static PJRT_Error *copy_in(PJRT_Client_BufferFromHostBuffer_Args *args) {
    PJRT_Error *error = real->PJRT_Client_BufferFromHostBuffer(args);
    if (error) return error;
    count_made(args->buffer);
    recorded_call *c = open_call(COPY_IN, 0, 1);
    if (!c) return NULL;
    size_t bytes = size_of(args->type);
    c->in = *args; /* whole arrays, without gaps */
    c->in.byte_strides = NULL;
    c->in.num_byte_strides = 0;
    c->in.device_layout = NULL;
    for (size_t i = 0; i < args->num_dims && i < MOST_DIMENSIONS; i++) bytes *= (size_t)(c->dims[i] = args->dims[i]);
    c->in.dims = c->dims;
    c->bytes = malloc(bytes + 1);
    record.is_full |= !c->bytes || args->num_dims > MOST_DIMENSIONS;
    if (c->bytes) memcpy(c->bytes, args->data, bytes);
    c->in.data = c->bytes;
    c->recorded[0] = args->buffer;
    pthread_mutex_unlock(&record.lock);
    return NULL;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *args) {
    write_start();
    const bool is_noted = begin_program();
    PJRT_Error *error = real->PJRT_LoadedExecutable_Execute(args);
    if (error && is_noted) forget_program();
    if (error) return error;
    MAKE(LoadedExecutable_GetExecutable, get);
    MAKE(Executable_NumOutputs, number);
    get.loaded_executable = args->executable;
    if (is_noted) await_program(args->output_lists[0][0]);
    if (!atomic_load_explicit(&counts.is_on, memory_order_relaxed) &&
        !atomic_load_explicit(&record.is_open, memory_order_relaxed))
        return NULL;
    if (real->PJRT_LoadedExecutable_GetExecutable(&get)) return NULL;
    number.executable = get.executable;
    if (real->PJRT_Executable_NumOutputs(&number)) return NULL;
    for (size_t i = 0; i < number.num_outputs; i++) count_made(args->output_lists[0][i]);
    recorded_call *c = open_call(EXECUTE, args->num_args, number.num_outputs);
    if (!c) return NULL;
    c->execute = *args;
    for (int i = 0; i < c->num_sources; i++) c->source[i] = find_operand(args->argument_lists[0][i]);
    memcpy(c->recorded, args->output_lists[0], (size_t)c->num_outputs * sizeof *c->recorded);
    pthread_mutex_unlock(&record.lock);
    return NULL;
}

static PJRT_Error *copy_out(PJRT_Buffer_ToHostBuffer_Args *args) {
    PJRT_Error *error = real->PJRT_Buffer_ToHostBuffer(args);
    recorded_call *c = !error && args->dst ? open_call(COPY_OUT, 1, 0) : NULL;
    if (!c) return error;
    c->out = *args;
    c->out.host_layout = NULL; /* the caller's; that of the device takes as long */
    c->out.dst = c->bytes = malloc(args->dst_size + 1);
    record.is_full |= !c->bytes;
    c->source[0] = find_operand(args->src);
    pthread_mutex_unlock(&record.lock);
    return NULL;
}

/* Buffers that a record may use are freed with it. */
static PJRT_Error *destroy_buffer(PJRT_Buffer_Destroy_Args *args) {
    count_freed(args->buffer);
    if (atomic_load_explicit(&record.is_open, memory_order_relaxed)) {
        pthread_mutex_lock(&record.lock);
        const bool is_kept = record.num_kept < MOST_CALLS * MOST_BUFFERS;
        if (is_kept) record.kept[record.num_kept++] = args->buffer;
        record.is_full |= !is_kept;
        pthread_mutex_unlock(&record.lock);
        if (is_kept) return NULL;
    }
    return real->PJRT_Buffer_Destroy(args);
}

static PJRT_Error *create_client(PJRT_Client_Create_Args *args) {
    PJRT_Error *error = real->PJRT_Client_Create(args);
    if (!error) client = args->client;
    client_made = now();
    return error;
}

/* ---- making it again ---- */

/* False, and frees it: ERROR is one. */
static bool is_good(PJRT_Error *error) {
    MAKE(Error_Destroy, destroy);
    destroy.error = error;
    if (error) real->PJRT_Error_Destroy(&destroy);
    return !error;
}

static PJRT_Buffer *operand_buffer(const operand *o) {
    return o->call < 0 ? o->buffer : record.call[o->call].output[o->output];
}

static bool copy_in_again(recorded_call *c) {
    PJRT_Client_BufferFromHostBuffer_Args args = c->in;
    args.client = client;
    args.buffer = NULL;
    args.done_with_host_buffer = NULL;
    if (!is_good(real->PJRT_Client_BufferFromHostBuffer(&args))) return false;
    c->output[0] = args.buffer;
    c->event = args.done_with_host_buffer;
    return true;
}

static bool execute_again(recorded_call *c) {
    PJRT_Buffer *source[MOST_BUFFERS];
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = c->execute;
    args.options = &options;
    args.argument_lists = (PJRT_Buffer *const *const[]){source};
    args.output_lists = (PJRT_Buffer * *const[]){c->output};
    args.device_complete_events = &c->event;
    for (int i = 0; i < c->num_sources; i++) source[i] = operand_buffer(&c->source[i]);
    return is_good(real->PJRT_LoadedExecutable_Execute(&args));
}

static bool copy_out_again(recorded_call *c) {
    PJRT_Buffer_ToHostBuffer_Args args = c->out;
    args.src = operand_buffer(&c->source[0]);
    args.event = NULL;
    if (!is_good(real->PJRT_Buffer_ToHostBuffer(&args))) return false;
    c->event = args.event;
    return true;
}

static bool await_call(recorded_call *c) {
    MAKE(Event_Await, wait);
    MAKE(Event_Destroy, destroy);
    wait.event = destroy.event = c->event;
    c->event = NULL;
    if (!wait.event) return true;
    const bool came = is_good(real->PJRT_Event_Await(&wait));
    return is_good(real->PJRT_Event_Destroy(&destroy)) && came;
}

static bool free_outputs(recorded_call *c) {
    bool good = true;
    for (int i = 0; i < c->num_outputs; i++) {
        MAKE(Buffer_Destroy, destroy);
        destroy.buffer = c->output[i];
        c->output[i] = NULL;
        if (destroy.buffer) good &= is_good(real->PJRT_Buffer_Destroy(&destroy));
    }
    return good;
}

EXPORTED bool recorder_replay(void) {
    static bool (*const again[])(recorded_call * c) = {copy_in_again, execute_again, copy_out_again};
    bool good = true;
    for (int i = 0; i < record.num_calls && good; i++) good = again[record.call[i].kind](&record.call[i]);
    for (int i = 0; i < record.num_calls; i++) good &= await_call(&record.call[i]);
    for (int i = 0; i < record.num_calls; i++) good &= free_outputs(&record.call[i]);
    return good;
}

EXPORTED void recorder_begin(void) {
    record.num_calls = 0;
    record.is_full = false;
    atomic_store(&record.is_open, true);
}

EXPORTED bool recorder_end(void) {
    atomic_store(&record.is_open, false);
    int programs = 0;
    for (int i = 0; i < record.num_calls; i++) programs += record.call[i].kind == EXECUTE;
    return programs && !record.is_full;
}

EXPORTED void recorder_drop(void) {
    for (int i = 0; i < record.num_kept; i++) {
        MAKE(Buffer_Destroy, destroy);
        destroy.buffer = record.kept[i];
        is_good(real->PJRT_Buffer_Destroy(&destroy));
    }
    for (int i = 0; i < record.num_calls; i++) free(record.call[i].bytes);
    record.num_kept = record.num_calls = 0;
}

EXPORTED const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void) {
    const PJRT_Api *(*get)(void) = NULL;
    const char *path = getenv("MUSTER_BENCH_PLUGIN");
    if (real) return &own;
    load_began = now();
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library) *(void **)&get = dlsym(library, "GetPjrtApi");
    if (!get || !(real = get())) return NULL;
    memcpy(&own, real, real->struct_size < sizeof own ? real->struct_size : sizeof own);
    own.PJRT_Client_Create = create_client;
    own.PJRT_Client_BufferFromHostBuffer = copy_in;
    own.PJRT_LoadedExecutable_Execute = execute;
    own.PJRT_Buffer_ToHostBuffer = copy_out;
    own.PJRT_Buffer_Destroy = destroy_buffer;
    return &own;
}
