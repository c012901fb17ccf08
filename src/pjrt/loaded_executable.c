#include "pjrt/loaded_executable.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "pjrt/compile_options.h"
#include "pjrt/executable_bytes.h"
#include "pjrt/processor.h"
#include "pjrt/under_way.h"
#include "run/backend.h"
#include "run/errand.h"

/* The argument and the result of the errand that compiles a text. The errand owns it, with all that it points to except
 * the client. */
typedef struct compilation {
    const mst_pjrt_client *client;
    char *text;
    PJRT_LoadedExecutable *loaded;
    PJRT_Executable *described; /* description of `loaded`, which owns the lists below; NULL: none was got */
    size_t num_results;
    const PJRT_Buffer_Type *type; /* by result; NULL: the plugin does not say, as for the next two */
    const int64_t *dim;           /* the dimensions of all results, one result after another */
    const size_t *ndim;           /* by result */
    int64_t temporary, code;      /* memory, in bytes; 0: the plugin does not say */
} compilation;

struct mst_pjrt_executable {
    const mst_pjrt_client *client;
    mst_errand *errand;
    compilation *compiled; /* owned by the errand */
    int64_t uses;
    bool has_failed;   /* it could not be compiled: the next mst_pjrt_executable_get of the text compiles again */
    uint64_t last_use; /* when `uses` last became 0, as a number that rises with each such time */
    struct mst_pjrt_executable *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mst_pjrt_executable *executables;
static int num_unused;

/* ---- on the errand's thread ---- */

/* Compiling a text takes a core and much memory. So at most max(2, threads of the processor) texts are compiled at the
 * same time. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_ended = PTHREAD_COND_INITIALIZER;
static int num_turns;

static void take_turn(void) {
    const int threads = mst_pjrt_num_threads();
    pthread_mutex_lock(&turn_lock);
    while (num_turns >= (threads > 2 ? threads : 2)) pthread_cond_wait(&turn_ended, &turn_lock);
    num_turns++;
    pthread_mutex_unlock(&turn_lock);
}

static void end_turn(void) {
    pthread_mutex_lock(&turn_lock);
    num_turns--;
    pthread_cond_signal(&turn_ended);
    pthread_mutex_unlock(&turn_lock);
}

/* Frees ERROR, because of which the plugin has not compiled a text, and records it. */
static mst_status report_refused(const PJRT_Api *api, PJRT_Error *error) {
    char message[MST_PJRT_MESSAGE];
    const mst_status status = mst_pjrt_error_take(api, error, message);
    const char *advice = mst_pjrt_advice(status);
    return MST_FAIL(status, "the plugin says: %s%s", message,
                    *advice ? advice : ": try another version of the plugin; --dump-plan stablehlo shows the program");
}

/* A text to be compiled in this process, and the result. */
typedef struct order {
    const mst_pjrt_client *client;
    const mst_executable_source *source;
    PJRT_LoadedExecutable *loaded;
} order;

static mst_status compile_text(order *o) {
    const PJRT_Api *api = o->client->api;
    const PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                                  .code = (char *)o->source->text,
                                  .code_size = strlen(o->source->text),
                                  .format = "mlir",
                                  .format_size = sizeof "mlir" - 1};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = o->client->client,
                                     .program = &program,
                                     .compile_options = o->source->options,
                                     .compile_options_size = o->source->options_size};
    take_turn();
    const bool is_ending = mst_pjrt_is_ending();
    PJRT_Error *error = is_ending ? NULL : api->PJRT_Client_Compile(&args);
    end_turn();
    if (is_ending) return MST_FAIL(MST_CANCELLED, "the process ends");
    if (error) return report_refused(api, error);
    o->loaded = args.executable;
    return MST_OK;
}

static mst_status compile_order(void *context, void **data, size_t *size) {
    order *o = context;
    MST_TRY(compile_text(o));
    return mst_pjrt_executable_save(o->client, o->loaded, data, size);
}

static mst_status find_options(const mst_pjrt_client *client, char options[MST_PJRT_OPTIONS], size_t *size) {
    *size = mst_pjrt_compile_options(client->kind->flags, options);
    return *size ? MST_OK : MST_FAIL(MST_INTERNAL, "too many options for a compilation");
}

static void destroy_loaded(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_Destroy_Args args = {.struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE,
                                               .executable = loaded};
    if (loaded) mst_pjrt_error_drop(api, api->PJRT_LoadedExecutable_Destroy(&args));
}

/* Sets c->loaded to the executable of c->text: found on disk, got from another task, or compiled here. */
static mst_status make_executable(compilation *c) {
    char options[MST_PJRT_OPTIONS];
    size_t options_size, size = 0;
    void *data = NULL;
    MST_TRY(find_options(c->client, options, &options_size));
    const mst_executable_source source = {.text = c->text,
                                          .options = options,
                                          .options_size = options_size,
                                          .plugin = c->client->plugin,
                                          .kind = c->client->device_kind};
    order here = {.client = c->client, .source = &source};
    mst_executable_order make = {
        .source = source, .device_type = c->client->kind->name, .compile = compile_order, .context = &here};
    mst_status status = mst_pjrt_host->services->executable_make(&make, &data, &size);
    if (!status && data) status = mst_pjrt_executable_load(c->client, data, size, &c->loaded);
    if (status == MST_CORRUPT && data) { /* the plugin refuses the bytes that were found, so the text is compiled */
        free(data);
        data = NULL;
        make.refused = true;
        status = mst_pjrt_host->services->executable_make(&make, &data, &size);
        if (!status && data) status = mst_pjrt_executable_load(c->client, data, size, &c->loaded);
    }
    free(data);
    if (!c->loaded && !status)
        c->loaded = here.loaded;
    else
        destroy_loaded(c->client->api, here.loaded);
    return status;
}

mst_status mst_pjrt_executable_compile(mst_pjrt_client *client, const mst_executable_source *source, void **data,
                                       size_t *size) {
    char options[MST_PJRT_OPTIONS];
    size_t options_size;
    *data = NULL;
    MST_TRY(mst_pjrt_client_need(client));
    MST_TRY(find_options(client, options, &options_size));
    const bool same_options =
        source->options_size == options_size && memcmp(source->options, options, options_size) == 0;
    if (!same_options || strcmp(source->plugin, client->plugin) != 0 || strcmp(source->kind, client->device_kind) != 0)
        return MST_FAIL(MST_INVALID,
                        "another task asks for a program for '%s' of the plugin %s, and here is '%s' of the plugin %s: "
                        "all tasks need the same plugin and kind of device",
                        source->kind, source->plugin, client->device_kind, client->plugin);
    order o = {.client = client, .source = source};
    const mst_status status = compile_order(&o, data, size);
    destroy_loaded(client->api, o.loaded);
    return status;
}

/* Finds the number of the results, and their types and shapes if the plugin reports them. */
static mst_status describe_results(compilation *c) {
    const PJRT_Api *api = c->client->api;
    PJRT_LoadedExecutable_GetExecutable_Args get = {.struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
                                                    .loaded_executable = c->loaded};
    MST_TRY(mst_pjrt_check(api, api->PJRT_LoadedExecutable_GetExecutable(&get), "asking for the executable"));
    c->described = get.executable;
    PJRT_Executable_NumOutputs_Args results = {.struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE,
                                               .executable = c->described};
    MST_TRY(mst_pjrt_check(api, api->PJRT_Executable_NumOutputs(&results), "asking for the results"));
    c->num_results = results.num_outputs;
    PJRT_Executable_OutputElementTypes_Args types = {.struct_size = PJRT_Executable_OutputElementTypes_Args_STRUCT_SIZE,
                                                     .executable = c->described};
    PJRT_Executable_OutputDimensions_Args dims = {.struct_size = PJRT_Executable_OutputDimensions_Args_STRUCT_SIZE,
                                                  .executable = c->described};
    if (!api->PJRT_Executable_OutputElementTypes || !api->PJRT_Executable_OutputDimensions) return MST_OK;
    PJRT_Error *error = api->PJRT_Executable_OutputElementTypes(&types);
    if (!error) error = api->PJRT_Executable_OutputDimensions(&dims);
    mst_pjrt_error_drop(api, error);
    if (error || types.num_output_types != c->num_results || dims.num_outputs != c->num_results) return MST_OK;
    c->type = types.output_types;
    c->dim = dims.dims;
    c->ndim = dims.dim_sizes;
    return MST_OK;
}

/* Finds the memory that a run takes beyond arguments and results. */
static void describe_memory(compilation *c) {
    const PJRT_Api *api = c->client->api;
    PJRT_Executable_GetCompiledMemoryStats_Args args = {
        .struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE, .executable = c->described};
    if (!api->PJRT_Executable_GetCompiledMemoryStats) return;
    PJRT_Error *error = api->PJRT_Executable_GetCompiledMemoryStats(&args);
    mst_pjrt_error_drop(api, error);
    if (error) return;
    if (args.temp_size_in_bytes > 0) c->temporary = args.temp_size_in_bytes;
    if (args.generated_code_size_in_bytes > 0) c->code = args.generated_code_size_in_bytes;
}

static mst_status compile(void *context) {
    static atomic_flag has_compiled = ATOMIC_FLAG_INIT;
    compilation *c = context;
    mst_pjrt_work_begin();
    mst_status status = make_executable(c);
    if (!status) status = describe_results(c);
    if (!status) describe_memory(c);
    if (!atomic_flag_test_and_set(&has_compiled)) mst_pjrt_guard_exit();
    mst_pjrt_work_end();
    return status;
}

static void free_compilation(void *context) {
    compilation *c = context;
    const PJRT_Api *api = c->client->api;
    PJRT_Executable_Destroy_Args described = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                              .executable = c->described};
    if (c->described) mst_pjrt_error_drop(api, api->PJRT_Executable_Destroy(&described));
    destroy_loaded(api, c->loaded);
    free(c->text);
    free(c);
}

/* ---- the table ---- */

static mst_status start_compiling(mst_pjrt_executable *x, const char *text) {
    static const mst_errand_type type = {compile, free_compilation};
    compilation *c = calloc(1, sizeof *c);
    if (c) c->text = strdup(text);
    if (!c || !c->text) {
        free(c);
        return MST_NO_MEMORY("for a program");
    }
    c->client = x->client;
    const mst_status status = mst_pjrt_host->services->errand_start(&type, c, &x->errand);
    if (status)
        free_compilation(c);
    else
        x->compiled = c;
    return status;
}

static mst_status add_executable(const mst_pjrt_client *client, const char *text, mst_pjrt_executable **out) {
    mst_pjrt_executable *x = calloc(1, sizeof *x);
    if (!x) return MST_NO_MEMORY("for a program");
    x->client = client;
    const mst_status status = start_compiling(x, text);
    if (status) {
        free(x);
        return status;
    }
    x->next = executables;
    executables = x;
    *out = x;
    return MST_OK;
}

static mst_status get_executable(const mst_pjrt_client *client, const char *text, mst_pjrt_executable **out) {
    mst_pjrt_executable *x = executables;
    while (x && (x->has_failed || x->client != client || strcmp(x->compiled->text, text) != 0)) x = x->next;
    if (!x)
        MST_TRY(add_executable(client, text, &x));
    else if (!x->uses)
        num_unused--;
    x->uses++;
    *out = x;
    return MST_OK;
}

mst_status mst_pjrt_executable_get(const mst_pjrt_client *client, const char *text, mst_pjrt_executable **out) {
    pthread_mutex_lock(&lock);
    const mst_status status = get_executable(client, text, out);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Takes an unused executable out of the table: one that has failed, else the least recently used one. NULL: none is
 * unused. */
static mst_pjrt_executable *take_unused(void) {
    mst_pjrt_executable **found = NULL;
    for (mst_pjrt_executable **at = &executables; *at; at = &(*at)->next) {
        if ((*at)->uses || (found && (*found)->has_failed)) continue;
        if (!found || (*at)->has_failed || (*at)->last_use < (*found)->last_use) found = at;
    }
    mst_pjrt_executable *x = found ? *found : NULL;
    if (!x) return NULL;
    *found = x->next;
    num_unused--;
    return x;
}

void mst_pjrt_executable_put(mst_pjrt_executable *x) {
    enum { MOST_UNUSED = 256 };
    static uint64_t num_uses;
    mst_pjrt_executable *dropped = NULL;
    if (!x) return;
    mst_pjrt_guard_work();
    pthread_mutex_lock(&lock);
    if (--x->uses == 0) {
        x->last_use = ++num_uses;
        if (++num_unused > MOST_UNUSED || x->has_failed) dropped = take_unused();
    }
    pthread_mutex_unlock(&lock);
    if (dropped) mst_pjrt_host->services->errand_leave(dropped->errand);
    free(dropped);
}

mst_status mst_pjrt_executable_wait(mst_pjrt_executable *x, int64_t deadline, const char *what,
                                    PJRT_LoadedExecutable **out) {
    const mst_status status = mst_pjrt_host->services->errand_wait(x->errand, deadline, what);
    if (!status) *out = x->compiled->loaded;
    if (!status || status == MST_DEADLINE) return status;
    pthread_mutex_lock(&lock);
    x->has_failed = true;
    pthread_mutex_unlock(&lock);
    return status;
}

int mst_pjrt_executable_num_results(const mst_pjrt_executable *x) {
    return (int)x->compiled->num_results;
}

void mst_pjrt_executable_inside(const mst_pjrt_executable *x, int64_t *temporary, int64_t *code) {
    *temporary = x->compiled->temporary;
    *code = x->compiled->code;
}

bool mst_pjrt_executable_gives(const mst_pjrt_executable *x, int i, PJRT_Buffer_Type type, int ndim,
                               const int64_t *dim) {
    const compilation *c = x->compiled;
    if (!c->type) return true;
    const int64_t *own = c->dim;
    for (int k = 0; k < i; k++) own += c->ndim[k];
    if (c->type[i] != type || c->ndim[i] != (size_t)ndim) return false;
    for (int k = 0; k < ndim; k++)
        if (own[k] != dim[k]) return false;
    return true;
}
