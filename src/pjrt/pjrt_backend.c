/* Runs the programs of a plan (plan/compiled.h) on a device of a plugin.
 *
 * Each run of a program is a job (pjrt/jobs.h). It has one event for its end and, if an op in the program can fail, one
 * for the arrival of its word of faults. The result buffers are put at their addresses at once, before they are
 * computed: the plugin delays the programs that use them. */
#include "pjrt/pjrt_backend.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "pjrt/buffers.h"
#include "pjrt/jobs.h"
#include "pjrt/loaded_executable.h"
#include "pjrt/under_way.h"
#include "plan/compiled.h"
#include "run/frame.h"

/* ---- compiling ---- */

typedef struct device_executable {
    const mst_plan *plan;
    int device;
    mst_pjrt_executable **text; /* by call; NULL: the call is an assignment */
} device_executable;

static mst_domain *domain_of(const mst_plan *plan, int device) {
    return plan->host->devices->device[device].domain;
}

static mst_status compile_call(const mst_pjrt_client *client, const mst_plan_node *node, mst_pjrt_executable **out) {
    if (node->group >= 0)
        return MST_FAIL(MST_INTERNAL, "node '%s' is for several devices, which share no memory", node->name);
    if (strcmp(node->op->name, "compiled") == 0) {
        const mst_compiled_options *o = node->options;
        return mst_pjrt_executable_get(client, o->text, out);
    }
    if (strcmp(node->op->name, "assign") == 0 && node->region == MST_COMMIT) return MST_OK;
    return MST_FAIL(MST_INTERNAL, "node '%s' is %s, which is not a program", node->name, node->op->name);
}

static void destroy(void *context) {
    device_executable *e = context;
    for (int64_t k = 0; k < e->plan->program[e->device].num_calls; k++) mst_pjrt_executable_put(e->text[k]);
    free(e->text);
    free(e);
}

static mst_status compile(const mst_plan *plan, int device, void **out) {
    const mst_program *program = &plan->program[device];
    const mst_pjrt_client *client = mst_pjrt_domain_client(domain_of(plan, device));
    device_executable *e = calloc(1, sizeof *e);
    mst_pjrt_executable **text = calloc((size_t)program->num_calls + 1, sizeof *text);
    if (!e || !text) {
        free(e);
        free(text);
        return MST_NO_MEMORY("for a plan");
    }
    *e = (device_executable){plan, device, text};
    mst_status status = MST_OK;
    for (int64_t k = 0; k < program->num_calls && !status; k++)
        status = compile_call(client, &plan->node[plan->instance[program->call[k]].node], &text[k]);
    if (status)
        destroy(e);
    else
        *out = e;
    return status;
}

/* Waits until TEXT, the program of NODE, has been compiled. */
static mst_status await_text(mst_pjrt_executable *text, const mst_plan_node *node, int64_t deadline,
                             PJRT_LoadedExecutable **loaded) {
    enum { ROOM = 512 };
    char what[ROOM];
    snprintf(what, sizeof what, "compiling the program of node '%s'", node->name);
    return mst_pjrt_executable_wait(text, deadline, what, loaded);
}

/* Whether a call before call K runs the same program. */
static bool is_repeated(const device_executable *e, int64_t k) {
    for (int64_t i = 0; i < k; i++)
        if (e->text[i] == e->text[k]) return true;
    return false;
}

static mst_status inside_bytes(void *context, int64_t deadline, int64_t *bytes) {
    const device_executable *e = context;
    const mst_program *program = &e->plan->program[e->device];
    int64_t most = 0, all_code = 0;
    for (int64_t k = 0; k < program->num_calls; k++) {
        PJRT_LoadedExecutable *loaded;
        int64_t temporary, code;
        if (!e->text[k] || is_repeated(e, k)) continue;
        const mst_status status =
            await_text(e->text[k], &e->plan->node[e->plan->instance[program->call[k]].node], deadline, &loaded);
        if (status) {
            mst_pjrt_guard_work();
            return status;
        }
        mst_pjrt_executable_inside(e->text[k], &temporary, &code);
        if (temporary > most) most = temporary;
        all_code += code;
    }
    *bytes = most + all_code;
    return MST_OK;
}

/* ---- binding ---- */

/* An argument of two 32-bit words (a random key, or the number of the step), and the last buffer made of them. */
typedef struct words_argument {
    uint32_t word[2];
    mst_pjrt_buffer *buffer; /* NULL: none was made */
} words_argument;

typedef struct device_call {
    const mst_plan_node *node;
    int32_t number;                /* number of the node in the plan */
    mst_pjrt_executable *text;     /* NULL: the call is an assignment */
    PJRT_LoadedExecutable *loaded; /* of `text`; NULL until the first wait for it has succeeded */
    const mst_array *src, *dst;
    words_argument *words; /* by argument of the program */
} device_call;

typedef struct instance {
    const mst_plan *plan;
    const mst_step *step;
    mst_domain *domain;
    const PJRT_Api *api;
    PJRT_Device *on;
    int device;
    int64_t num_calls;
    device_call *calls;
    mst_array *arrays;     /* memory for `src` and `dst` of all calls */
    words_argument *words; /* memory for `words` of all calls */
    int64_t num_words;
    mst_pjrt_buffer **argument; /* scratch for one call: the buffers of its arguments */
    PJRT_Buffer **raw;          /* scratch for one call: the plugin's buffers of its arguments, then of its results */
    int64_t *kept;              /* scratch for one call: numbers of donated arguments that the plugin must not take */
    _Atomic uint64_t frame;     /* number of the frame to which the jobs belong; set when `jobs` is ready for it */
    mst_pjrt_jobs *jobs;        /* one job for each call */
} instance;

static void unbind(void *context) {
    instance *x = context;
    if (!x) return;
    for (int64_t i = 0; x->words && i < x->num_words; i++) mst_pjrt_buffer_release(x->words[i].buffer);
    mst_pjrt_jobs_leave(x->jobs);
    free(x->calls);
    free(x->arrays);
    free(x->words);
    free(x->argument);
    free(x->raw);
    free(x->kept);
    free(x);
}

/* The number of results of the program NODE that are arrays: its outputs, then the new values of variables. */
static int num_arrays(const mst_plan_node *node) {
    return mst_compiled_num_arrays(node->options, node->num_dst);
}

/* The value whose dtype and shape result I has: an output, or a variable that the program NODE writes. */
static int32_t value_of_result(const mst_plan_node *node, int i) {
    const mst_compiled_donation *donation = ((const mst_compiled_options *)node->options)->donation;
    return i < node->num_dst ? node->dst + i : node->src[donation[i - node->num_dst].source];
}

static int num_arguments(const mst_plan_node *node, const mst_pjrt_executable *text) {
    return text ? ((const mst_compiled_options *)node->options)->num_arguments : 0;
}

/* Allocates what an instance has for its calls. */
static mst_status allocate(instance *x, const device_executable *e) {
    const mst_program *program = &e->plan->program[e->device];
    int64_t arrays = 0, most = 0;
    for (int64_t k = 0; k < program->num_calls; k++) {
        const mst_plan_node *node = &e->plan->node[e->plan->instance[program->call[k]].node];
        const int64_t arguments = num_arguments(node, e->text[k]), results = e->text[k] ? num_arrays(node) + 1 : 0,
                      all = arguments + results;
        arrays += node->num_src + node->num_dst;
        x->num_words += arguments;
        if (all > most) most = all;
    }
    x->num_calls = program->num_calls;
    x->calls = calloc((size_t)x->num_calls + 1, sizeof *x->calls);
    x->arrays = calloc((size_t)arrays + 1, sizeof *x->arrays);
    x->words = calloc((size_t)x->num_words + 1, sizeof *x->words);
    x->argument = calloc((size_t)most + 1, sizeof(mst_pjrt_buffer *));
    x->raw = calloc((size_t)most + 1, sizeof(PJRT_Buffer *));
    x->kept = calloc((size_t)most + 1, sizeof *x->kept);
    x->jobs = mst_pjrt_jobs_create(x->api, x->num_calls, 0);
    const bool done = x->calls && x->arrays && x->words && x->argument && x->raw && x->kept && x->jobs;
    return done ? MST_OK : MST_NO_MEMORY("for a plan");
}

static mst_status bind_arrays(const mst_binding *binding, const mst_plan_node *node, mst_array *array) {
    for (int i = 0; i < node->num_src; i++) MST_TRY(binding->fill(binding, node->src[i], false, &array[i]));
    for (int i = 0; i < node->num_dst; i++)
        MST_TRY(binding->fill(binding, node->dst + i, false, &array[node->num_src + i]));
    return MST_OK;
}

static mst_status bind_calls(instance *x, const device_executable *e, const mst_binding *binding) {
    const mst_plan *plan = e->plan;
    mst_array *array = x->arrays;
    words_argument *words = x->words;
    for (int64_t k = 0; k < x->num_calls; k++) {
        const int32_t number = plan->instance[plan->program[e->device].call[k]].node;
        const mst_plan_node *node = &plan->node[number];
        x->calls[k] = (device_call){.node = node,
                                    .number = number,
                                    .text = e->text[k],
                                    .src = array,
                                    .dst = array + node->num_src,
                                    .words = words};
        MST_TRY(bind_arrays(binding, node, array));
        array += node->num_src + node->num_dst;
        words += num_arguments(node, e->text[k]);
    }
    return MST_OK;
}

static mst_status bind(void *context, const mst_binding *binding, void **out) {
    const device_executable *e = context;
    instance *x = calloc(1, sizeof *x);
    if (!x) return MST_NO_MEMORY("for a plan");
    x->plan = e->plan;
    x->step = binding->step;
    x->domain = domain_of(e->plan, e->device);
    x->api = mst_pjrt_domain_client(x->domain)->api;
    x->on = mst_pjrt_domain_device(x->domain);
    x->device = e->device;
    mst_status status = allocate(x, e);
    if (!status) status = bind_calls(x, e, binding);
    if (status)
        unbind(x);
    else
        *out = x;
    return status;
}

/* ---- checks of what was compiled ---- */

static mst_status check_argument(const mst_plan_node *node, int i) {
    const mst_compiled_argument *argument = &((const mst_compiled_options *)node->options)->argument[i];
    switch (argument->kind) {
        case MST_HLO_SOURCE_VALUE:
            if (argument->source >= 0 && argument->source < node->num_src) return MST_OK;
            return MST_FAIL(MST_INTERNAL, "node '%s': argument %d is source %d, of %d", node->name, i, argument->source,
                            node->num_src);
        case MST_HLO_SOURCE_KEY:
        case MST_HLO_SOURCE_STEP: return MST_OK;
        default:
            return MST_FAIL(MST_INTERNAL, "node '%s': argument %d is of kind %d, which a compiled node cannot have",
                            node->name, i, (int)argument->kind);
    }
}

/* Checks that the program's results have the number, dtypes and shapes of the plan. The plugin checks the arguments. */
static mst_status check_program(const mst_plan *plan, const device_call *c) {
    const mst_plan_node *node = c->node;
    const mst_compiled_options *o = node->options;
    const int arrays = num_arrays(node), results = arrays + (o->num_faults > 0),
              given = mst_pjrt_executable_num_results(c->text);
    if (given != results)
        return MST_FAIL(MST_INTERNAL, "node '%s' has %d results, its program %d", node->name, results, given);
    for (int i = 0; i < o->num_arguments; i++) MST_TRY(check_argument(node, i));
    for (int32_t k = 0; k < o->num_donated; k++)
        if (o->donation[k].result != node->num_dst + k)
            return MST_FAIL(MST_INTERNAL, "node '%s': variable %d becomes result %d", node->name, k,
                            o->donation[k].result);
    for (int i = 0; i < arrays; i++) {
        const mst_spec *spec = &plan->value[value_of_result(node, i)].spec;
        if (!mst_pjrt_executable_gives(c->text, i, mst_pjrt_type(spec->dtype), spec->shape.ndim, spec->shape.dim))
            return MST_FAIL(MST_INTERNAL, "node '%s': the program gives another dtype or shape for result %d",
                            node->name, i);
    }
    if (o->num_faults && !mst_pjrt_executable_gives(c->text, arrays, PJRT_Buffer_Type_S32, 0, NULL))
        return MST_FAIL(MST_INTERNAL, "node '%s': the word of faults is not tensor<i32>", node->name);
    return MST_OK;
}

/* Waits until the program of C has been compiled. */
static mst_status await_program(const instance *x, device_call *c, int64_t deadline) {
    PJRT_LoadedExecutable *loaded;
    if (c->loaded) return MST_OK;
    mst_status status = await_text(c->text, c->node, deadline, &loaded);
    if (!status) status = check_program(x->plan, c);
    if (status) {
        mst_pjrt_guard_work();
        return status;
    }
    c->loaded = loaded;
    return MST_OK;
}

/* ---- running ---- */

/* Sets OUT to a buffer with the two words of argument I. A random key is the same in all steps, and is copied to the
 * device once. */
static mst_status find_words(const instance *x, const device_call *c, int i, mst_pjrt_buffer **out) {
    const mst_compiled_argument *argument = &((const mst_compiled_options *)c->node->options)->argument[i];
    const uint64_t number = (uint64_t)x->step->number;
    uint32_t word[2] = {(uint32_t)number, (uint32_t)(number >> 32)};
    words_argument *last = &c->words[i];
    if (argument->kind == MST_HLO_SOURCE_KEY) mst_pjrt_host->random_key(x->step->seed, argument->stream, word);
    if (!last->buffer || memcmp(last->word, word, sizeof word) != 0) {
        mst_pjrt_buffer_release(last->buffer);
        last->buffer = NULL;
        MST_TRY(mst_pjrt_buffer_make(x->domain, word, PJRT_Buffer_Type_U32, 1, (const int64_t[]){2}, &last->buffer));
        memcpy(last->word, word, sizeof word);
    }
    *out = last->buffer;
    return MST_OK;
}

/* The buffer of source I of C, with a reference. A donated buffer is removed from its address. If there are other
 * references to it, it stays, and argument NUMBER is added to x->kept: the plugin must not take its memory. */
static mst_pjrt_buffer *find_source(const instance *x, const device_call *c, int i, int number, size_t *num_kept) {
    const void *data = c->src[i].data;
    mst_pjrt_buffer *buffer;
    if (!mst_compiled_donation_of(c->node->options, i)) return mst_pjrt_buffer_at(x->domain, data);
    if ((buffer = mst_pjrt_buffer_take(x->domain, data))) return buffer;
    x->kept[(*num_kept)++] = number;
    return mst_pjrt_buffer_at(x->domain, data);
}

/* Fills x->raw with the arguments of C. x->argument gets a reference to each argument that is a value; the others stay
 * NULL. Sets NUM_KEPT to the number of arguments in x->kept. */
static mst_status find_arguments(instance *x, const device_call *c, size_t *num_kept) {
    const mst_compiled_options *o = c->node->options;
    *num_kept = 0;
    for (int i = 0; i < o->num_arguments; i++) {
        mst_pjrt_buffer *buffer;
        if (o->argument[i].kind != MST_HLO_SOURCE_VALUE) {
            MST_TRY(find_words(x, c, i, &buffer));
        } else {
            buffer = x->argument[i] = find_source(x, c, o->argument[i].source, i, num_kept);
            if (!buffer)
                return MST_FAIL(MST_INTERNAL, "node '%s': argument %d is not on device %d", c->node->name, i,
                                x->device);
        }
        x->raw[i] = mst_pjrt_buffer_get(buffer);
    }
    return MST_OK;
}

static void release_arguments(instance *x, const device_call *c) {
    const mst_compiled_options *o = c->node->options;
    for (int i = 0; i < o->num_arguments; i++) {
        mst_pjrt_buffer_release(x->argument[i]);
        x->argument[i] = NULL;
    }
}

/* Starts to copy the word of faults to job->word. */
static mst_status fetch_word(const instance *x, const device_call *c, mst_pjrt_job *job, PJRT_Buffer *word) {
    PJRT_Buffer_ToHostBuffer_Args args = {.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                          .src = word,
                                          .dst = &job->word,
                                          .dst_size = sizeof job->word};
    PJRT_Error *error = x->api->PJRT_Buffer_ToHostBuffer(&args);
    if (error) {
        char what[MST_PJRT_MESSAGE];
        snprintf(what, sizeof what, "node '%s': asking for faults", c->node->name);
        return mst_pjrt_check(x->api, error, what);
    }
    mst_pjrt_job_expect(job, args.event);
    return MST_OK;
}

/* Puts the results RAW at their addresses. Takes over all buffers in RAW, also after an error. */
static mst_status take_results(const instance *x, const device_call *c, mst_pjrt_job *job, PJRT_Buffer *const *raw) {
    const mst_plan_node *node = c->node;
    const mst_compiled_options *o = node->options;
    mst_status status = MST_OK;
    const int arrays = num_arrays(node);
    for (int i = 0; i < arrays; i++) {
        const mst_array *array = i < node->num_dst ? &c->dst[i] : &c->src[o->donation[i - node->num_dst].source];
        mst_pjrt_buffer *buffer = mst_pjrt_buffer_wrap(x->api, raw[i], mst_pjrt_type(array->dtype), array->count, job);
        if (!buffer)
            status = MST_NO_MEMORY("for a buffer");
        else if (!status)
            status = mst_pjrt_buffer_put(x->domain, array->data, buffer);
        mst_pjrt_buffer_release(buffer);
    }
    if (!o->num_faults) return status;
    if (!status) status = fetch_word(x, c, job, raw[arrays]);
    mst_pjrt_buffer_drop(x->api, raw[arrays]);
    return status;
}

static mst_status report_failed(const mst_plan *plan, const mst_pjrt_job *job) {
    char what[MST_PJRT_MESSAGE];
    snprintf(what, sizeof what, "the program of node '%s'", plan->node[job->node].name);
    return mst_pjrt_job_report(job, what);
}

/* Frees ERROR, because of which the plugin has not started JOB. Reports the first cause, which may be a job whose
 * results JOB uses, and sets NODE to the node of that cause. */
static mst_status report_refused(const instance *x, const mst_pjrt_job *job, PJRT_Error *error, int32_t *node) {
    const mst_pjrt_job *root = mst_pjrt_job_root(job);
    char what[MST_PJRT_MESSAGE];
    if (root != job && root->status) {
        mst_pjrt_error_drop(x->api, error);
        *node = root->node;
        return report_failed(x->plan, root);
    }
    snprintf(what, sizeof what, "the program of node '%s'", x->plan->node[job->node].name);
    return mst_pjrt_check(x->api, error, what);
}

/* Starts the program of C with the arguments that are in x->raw. */
static mst_status launch(instance *x, const device_call *c, size_t num_kept, mst_pjrt_job *job, int32_t *node) {
    const mst_compiled_options *o = c->node->options;
    PJRT_Buffer **results = x->raw + o->num_arguments;
    PJRT_Event *ended = NULL;
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                   .non_donatable_input_indices = x->kept,
                                   .num_non_donatable_input_indices = num_kept};
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = c->loaded,
                                               .options = &options,
                                               .argument_lists = (PJRT_Buffer *const *const[]){x->raw},
                                               .num_devices = 1,
                                               .num_args = (size_t)o->num_arguments,
                                               .output_lists = (PJRT_Buffer * *const[]){results},
                                               .device_complete_events = &ended,
                                               .execute_device = x->on};
    PJRT_Error *error = x->api->PJRT_LoadedExecutable_Execute(&args);
    if (error) return report_refused(x, job, error, node);
    if (ended) mst_pjrt_job_expect(job, ended);
    return take_results(x, c, job, results);
}

/* Starts the program of C. Its arguments may not be computed yet. BEGAN is the time now; 0: the call is not traced.
 * After an error NODE is the node that has failed. */
static mst_status start_program(instance *x, const device_call *c, int64_t began, int32_t *node) {
    const int num_arguments = ((const mst_compiled_options *)c->node->options)->num_arguments;
    *node = c->number;
    mst_pjrt_job *job = mst_pjrt_job_start(x->jobs, c - x->calls, c->number, num_arguments);
    if (!job) return MST_NO_MEMORY("for a program");
    job->began = began;
    size_t num_kept;
    mst_status status = find_arguments(x, c, &num_kept);
    if (!status) {
        for (int i = 0; i < num_arguments; i++)
            if (x->argument[i]) mst_pjrt_job_use(job, mst_pjrt_buffer_maker(x->argument[i]));
        status = launch(x, c, num_kept, job, node);
    }
    mst_pjrt_job_launched(job);
    release_arguments(x, c);
    return status;
}

/* Behind the gate: source 1 becomes the value of source 0, a variable. No bytes are copied: the buffer is also put at
 * the address of the variable. */
static mst_status assign(const instance *x, const device_call *c) {
    mst_pjrt_buffer *value = mst_pjrt_buffer_at(x->domain, c->src[1].data);
    if (!value) return MST_FAIL(MST_INTERNAL, "node '%s': its value is not on device %d", c->node->name, x->device);
    const mst_status status = mst_pjrt_buffer_put(x->domain, c->src[0].data, value);
    mst_pjrt_buffer_release(value);
    return status;
}

/* Prepares the list of jobs for FRAME. If jobs of the previous frame have not ended, their list is left, and a new one
 * is made. */
static mst_status begin_frame(instance *x, const mst_frame *frame) {
    if (atomic_load(&x->frame) == frame->number) return MST_OK;
    if (!mst_pjrt_jobs_reset(x->jobs)) {
        mst_pjrt_jobs *jobs = mst_pjrt_jobs_create(x->api, x->num_calls, 0);
        if (!jobs) return MST_NO_MEMORY("for a step");
        mst_pjrt_jobs_leave(x->jobs);
        x->jobs = jobs;
    }
    atomic_store(&x->frame, frame->number);
    return MST_OK;
}

/* Waits until the program of C has been compiled, and notes the wait for a trace. */
static mst_status await_noted(const instance *x, device_call *c, const mst_frame *frame) {
    const mst_backend_services *services = mst_pjrt_host->services;
    const bool is_noted = frame->notes && !c->loaded;
    const int64_t begin = is_noted ? services->clock_now() : 0;
    MST_TRY(await_program(x, c, frame->deadline));
    if (is_noted) services->note_compiling(frame->notes, x->device, c->number, begin);
    return MST_OK;
}

static mst_status make_call(instance *x, device_call *c, mst_frame *frame) {
    const mst_backend_services *services = mst_pjrt_host->services;
    int32_t node = c->number;
    if (c->text) MST_TRY(await_noted(x, c, frame));
    const int64_t began = frame->notes ? services->clock_now() : 0;
    const mst_status status = c->text ? start_program(x, c, began, &node) : assign(x, c);
    if (status && c->text) {
        mst_pjrt_guard_work();
        atomic_store_explicit(&frame->at[x->device], node, memory_order_relaxed);
    }
    if (frame->notes && !status) services->note_call(frame->notes, x->device, c->number, began);
    return status;
}

static mst_status execute(void *context, int32_t first, int32_t end, struct mst_frame *frame) {
    instance *x = context;
    MST_TRY(begin_frame(x, frame));
    for (int32_t k = first; k < end; k++) {
        device_call *c = &x->calls[k];
        atomic_store_explicit(&frame->at[x->device], c->number, memory_order_relaxed);
        MST_TRY(make_call(x, c, frame));
    }
    return MST_OK;
}

static void note_programs(void *context, mst_frame *frame) {
    const instance *x = context;
    int64_t began, ended;
    if (atomic_load(&x->frame) != frame->number) return; /* no program has been started for this frame */
    for (int64_t k = 0; k < x->num_calls; k++)
        if (mst_pjrt_jobs_times(x->jobs, k, &began, &ended))
            mst_pjrt_host->services->note_program(frame->notes, x->device, x->calls[k].number, began, ended);
}

/* Waits until the programs behind the gate have been compiled. */
static mst_status ready(void *context, mst_frame *frame, int32_t *node) {
    instance *x = context;
    for (int64_t k = 0; k < x->num_calls; k++) {
        device_call *c = &x->calls[k];
        if (!c->text || c->node->region != MST_COMMIT) continue;
        *node = c->number;
        atomic_store_explicit(&frame->at[x->device], c->number, memory_order_relaxed);
        MST_TRY(await_program(x, c, frame->deadline));
        atomic_store_explicit(&frame->at[x->device], -1, memory_order_relaxed);
    }
    *node = -1;
    return MST_OK;
}

/* ---- settling ---- */

static mst_status report_ended(const instance *x, const mst_frame *frame, int32_t *node) {
    mst_pjrt_job *failed = mst_pjrt_jobs_first(x->jobs, MST_PJRT_FAILED);
    if (!failed) return MST_OK;
    mst_pjrt_guard_work();
    const mst_pjrt_job *root = mst_pjrt_job_root(failed);
    *node = root->node;
    const mst_status status = root->status
                                  ? report_failed(x->plan, root)
                                  : mst_pjrt_host->services->compiled_fail(frame, root->node, root->word, node);
    mst_pjrt_job_release(failed);
    return status;
}

static mst_status settle(void *context, mst_frame *frame, int64_t deadline, int32_t *node) {
    const instance *x = context;
    *node = -1;
    if (atomic_load(&x->frame) != frame->number) return MST_OK; /* no program has been started for this frame */
    if (!mst_pjrt_jobs_wait(x->jobs, deadline, frame->spin)) {
        mst_pjrt_job *pending = mst_pjrt_jobs_first(x->jobs, MST_PJRT_RUNNING);
        if (pending) {
            if (deadline > 0) mst_pjrt_guard_work(); /* DEADLINE 0 only asks whether one is running */
            *node = pending->node;
            mst_pjrt_job_release(pending);
            return MST_FAIL(MST_DEADLINE, "waited too long for a program: it is stuck, or the timeout is too short");
        } /* else the last one has ended since the wait */
    }
    return report_ended(x, frame, node);
}

const mst_backend mst_pjrt_backend = {.size = sizeof(mst_backend),
                                      .compile = compile,
                                      .destroy = destroy,
                                      .bind = bind,
                                      .unbind = unbind,
                                      .execute = execute,
                                      .settle = settle,
                                      .ready = ready,
                                      .inside_bytes = inside_bytes,
                                      .note_programs = note_programs};
