/* The module `lagoon`: devices that compile. Each has memory that nobody else may touch, and interprets the text of its
 * programs (support/hlo_interpreter.h). So tests see what a device gets, and not what a kernel would make of the plan.
 *
 * Its memory is open only while arguments are copied out of it and results into it. The programs of several devices run
 * at the same time.
 *
 * Two variables of the environment are for tests:
 *
 *   MUSTER_LAGOON_FAIL=N      the run of a program that is number N in this process, from 1, fails
 *   MUSTER_LAGOON_TEXTS=FILE  each text that is new in this process is appended to FILE, then a line "// ----" */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/compiled.h"
#include "run/backend.h"
#include "run/frame.h"
#include "support/closed_memory.h"
#include "support/hlo_interpreter.h"

enum { MOST_ERROR = 1024 };

static const mst_registrar *host;

#define FAIL(code, ...) host->error_set((code), __FILE__, __LINE__, __VA_ARGS__)
#define NO_MEMORY() FAIL(MST_OUT_OF_MEMORY, "lagoon: there is no memory for a plan")

/* ---- texts ---- */

/* A text that was compiled. It stays when no plan has it any more, so that it is known not to be new. */
typedef struct compiled_text {
    char *text;
    hlo_program *program; /* NULL: no plan has it */
    int64_t uses;
    struct compiled_text *next;
} compiled_text;

static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;
static compiled_text *texts;

static mst_status log_text(const char *text) {
    const char *path = getenv("MUSTER_LAGOON_TEXTS");
    if (!path || !*path) return MST_OK;
    FILE *file = fopen(path, "a");
    if (!file) return FAIL(MST_IO, "MUSTER_LAGOON_TEXTS: cannot open '%s'", path);
    const bool written = fprintf(file, "%s\n// ----\n", text) > 0;
    if (fclose(file) || !written) return FAIL(MST_IO, "MUSTER_LAGOON_TEXTS: cannot write '%s'", path);
    return MST_OK;
}

/* Adds a text to the table, and logs it. */
static mst_status add_text(const char *text, compiled_text **out) {
    compiled_text *x = calloc(1, sizeof *x);
    if (x) x->text = strdup(text);
    if (!x || !x->text) {
        free(x);
        return NO_MEMORY();
    }
    const mst_status status = log_text(text);
    if (status) {
        free(x->text);
        free(x);
        return status;
    }
    x->next = texts;
    texts = x;
    *out = x;
    return MST_OK;
}

static mst_status get_text_locked(const char *text, const char *node, compiled_text **out) {
    char error[MOST_ERROR];
    compiled_text *x = texts;
    while (x && strcmp(x->text, text) != 0) x = x->next;
    hlo_program *program = x ? x->program : NULL;
    if (!program && !(program = hlo_parse(text, error, sizeof error)))
        return FAIL(MST_INTERNAL, "lagoon: the program of node '%s': %s", node, error);
    const mst_status status = x ? MST_OK : add_text(text, &x);
    if (status) {
        hlo_program_free(program);
        return status;
    }
    x->program = program;
    x->uses++;
    *out = x;
    return MST_OK;
}

/* Sets OUT to TEXT, parsed. put_text must follow. */
static mst_status get_text(const char *text, const char *node, compiled_text **out) {
    pthread_mutex_lock(&text_lock);
    const mst_status status = get_text_locked(text, node, out);
    pthread_mutex_unlock(&text_lock);
    return status;
}

static void put_text(compiled_text *x) {
    if (!x) return;
    pthread_mutex_lock(&text_lock);
    if (--x->uses == 0) {
        hlo_program_free(x->program);
        x->program = NULL;
    }
    pthread_mutex_unlock(&text_lock);
}

/* ---- compiling ---- */

typedef struct executable {
    const mst_plan *plan;
    int device;
    compiled_text **text; /* by call; NULL: an assignment */
} executable;

/* The type of StableHLO for a dtype. False if there is none. */
static bool find_type(mst_dtype dtype, hlo_type *out) {
    switch (dtype) {
        case MST_F32: *out = HLO_F32; return true;
        case MST_F64: *out = HLO_F64; return true;
        case MST_BF16: *out = HLO_BF16; return true;
        case MST_I32: *out = HLO_I32; return true;
        case MST_I64: *out = HLO_I64; return true;
        case MST_U8: *out = HLO_UI8; return true;
        case MST_BOOL: *out = HLO_I1; return true;
        default: return false;
    }
}

/* Checks that TYPE, that of a program's argument or result, is that of the value SPEC. WHAT and I name the value. */
static mst_status check_spec(const mst_plan_node *node, const hlo_array *type, const mst_spec *spec, const char *what,
                             int i) {
    char have[HLO_TYPE_TEXT], want[HLO_TYPE_TEXT];
    hlo_array wanted = {.ndim = spec->shape.ndim};
    if (!find_type(spec->dtype, &wanted.type))
        return FAIL(MST_INTERNAL, "lagoon: node '%s': %s %d has a dtype that StableHLO does not have", node->name, what,
                    i);
    memcpy(wanted.dim, spec->shape.dim, (size_t)wanted.ndim * sizeof *wanted.dim);
    if (hlo_same_type(type, &wanted)) return MST_OK;
    return FAIL(MST_INTERNAL, "lagoon: node '%s': %s %d is %s, but %s in the program", node->name, what, i,
                hlo_type_text(&wanted, want, sizeof want), hlo_type_text(type, have, sizeof have));
}

static mst_status check_argument(const mst_plan *plan, const mst_plan_node *node, const hlo_program *program, int i) {
    const mst_compiled_options *o = node->options;
    const mst_compiled_argument *argument = &o->argument[i];
    const hlo_array *type = hlo_argument(program, i), words = {.type = HLO_UI32, .ndim = 1, .dim = {2}};
    switch (argument->kind) {
        case MST_HLO_SOURCE_VALUE:
            if (argument->source < 0 || argument->source >= node->num_src)
                return FAIL(MST_INTERNAL, "lagoon: node '%s': argument %d is source %d, of %d", node->name, i,
                            argument->source, node->num_src);
            return check_spec(node, type, &plan->value[node->src[argument->source]].spec, "source", argument->source);
        case MST_HLO_SOURCE_KEY:
        case MST_HLO_SOURCE_STEP:
            if (hlo_same_type(type, &words)) return MST_OK;
            return FAIL(MST_INTERNAL, "lagoon: node '%s': argument %d is not tensor<2xui32>", node->name, i);
        default:
            return FAIL(MST_INTERNAL, "lagoon: node '%s': argument %d is of kind %d, which a compiled node cannot have",
                        node->name, i, (int)argument->kind);
    }
}

static mst_status check_program(const mst_plan *plan, const mst_plan_node *node, const hlo_program *program) {
    const mst_compiled_options *o = node->options;
    const hlo_array word = {.type = HLO_I32};
    const int results = node->num_dst + (o->num_faults > 0);
    if (hlo_num_arguments(program) != o->num_arguments)
        return FAIL(MST_INTERNAL, "lagoon: node '%s' has %d arguments, its program %d", node->name, o->num_arguments,
                    hlo_num_arguments(program));
    if (hlo_num_results(program) != results)
        return FAIL(MST_INTERNAL, "lagoon: node '%s' has %d results, its program %d", node->name, results,
                    hlo_num_results(program));
    for (int i = 0; i < o->num_arguments; i++) MST_TRY(check_argument(plan, node, program, i));
    for (int i = 0; i < node->num_dst; i++)
        MST_TRY(check_spec(node, hlo_result(program, i), &plan->value[node->dst + i].spec, "output", i));
    if (o->num_faults && !hlo_same_type(hlo_result(program, node->num_dst), &word))
        return FAIL(MST_INTERNAL, "lagoon: node '%s': the word of faults is not tensor<i32>", node->name);
    return MST_OK;
}

static mst_status compile_call(const mst_plan *plan, const mst_plan_node *node, compiled_text **out) {
    if (node->group >= 0)
        return FAIL(MST_INTERNAL, "lagoon: node '%s' is for several devices, which share no memory", node->name);
    if (strcmp(node->op->name, "compiled") == 0) {
        const mst_compiled_options *o = node->options;
        MST_TRY(get_text(o->text, node->name, out));
        return check_program(plan, node, (*out)->program);
    }
    if (strcmp(node->op->name, "assign") == 0 && node->region == MST_COMMIT) return MST_OK;
    return FAIL(MST_INTERNAL, "lagoon: node '%s' is %s, which is not a program", node->name, node->op->name);
}

static void destroy(void *context) {
    executable *e = context;
    for (int64_t k = 0; k < e->plan->program[e->device].num_calls; k++) put_text(e->text[k]);
    free(e->text);
    free(e);
}

static mst_status compile(const mst_plan *plan, int device, void **out) {
    const mst_program *program = &plan->program[device];
    executable *e = calloc(1, sizeof *e);
    compiled_text **text = calloc((size_t)program->num_calls + 1, sizeof *text);
    if (!e || !text) {
        free(e);
        free(text);
        return NO_MEMORY();
    }
    *e = (executable){plan, device, text};
    mst_status status = MST_OK;
    for (int64_t k = 0; k < program->num_calls && !status; k++)
        status = compile_call(plan, &plan->node[plan->instance[program->call[k]].node], &text[k]);
    if (status)
        destroy(e);
    else
        *out = e;
    return status;
}

/* ---- binding ---- */

typedef struct call {
    const mst_plan_node *node;
    int32_t number;             /* of the node */
    const hlo_program *program; /* NULL: an assignment */
    const mst_array *src, *dst;
} call;

typedef struct instance {
    const mst_step *step;
    mst_domain *domain;
    int device;
    call *calls;
    mst_array *arrays; /* of all calls */
} instance;

static void unbind(void *context) {
    instance *x = context;
    if (!x) return;
    free(x->calls);
    free(x->arrays);
    free(x);
}

static mst_status bind_arrays(const mst_binding *binding, const mst_plan_node *node, mst_array *array) {
    for (int i = 0; i < node->num_src; i++) MST_TRY(binding->fill(binding, node->src[i], false, &array[i]));
    for (int i = 0; i < node->num_dst; i++)
        MST_TRY(binding->fill(binding, node->dst + i, false, &array[node->num_src + i]));
    return MST_OK;
}

static mst_status bind(void *context, const mst_binding *binding, void **out) {
    const executable *e = context;
    const mst_plan *plan = e->plan;
    const mst_program *program = &plan->program[e->device];
    instance *x = calloc(1, sizeof *x);
    int64_t arrays = 0;
    for (int64_t k = 0; k < program->num_calls; k++) {
        const mst_plan_node *node = &plan->node[plan->instance[program->call[k]].node];
        arrays += node->num_src + node->num_dst;
    }
    if (x) x->calls = calloc((size_t)program->num_calls + 1, sizeof *x->calls);
    if (x) x->arrays = calloc((size_t)arrays + 1, sizeof *x->arrays);
    if (!x || !x->calls || !x->arrays) {
        unbind(x);
        return NO_MEMORY();
    }
    x->step = binding->step;
    x->domain = plan->host->devices->device[e->device].domain;
    x->device = e->device;
    mst_array *next = x->arrays;
    mst_status status = MST_OK;
    for (int64_t k = 0; k < program->num_calls && !status; k++) {
        const int32_t number = plan->instance[program->call[k]].node;
        const mst_plan_node *node = &plan->node[number];
        x->calls[k] = (call){.node = node,
                             .number = number,
                             .program = e->text[k] ? e->text[k]->program : NULL,
                             .src = next,
                             .dst = next + node->num_src};
        status = bind_arrays(binding, node, next);
        next += node->num_src + node->num_dst;
    }
    if (status)
        unbind(x);
    else
        *out = x;
    return status;
}

/* ---- running ---- */

static size_t bytes_of(const hlo_array *array) {
    return (size_t)array->count * hlo_type_size(array->type);
}

/* Checks that BYTES of a value of the open domain are there. WHAT and I name the value. */
static mst_status check_place(const instance *x, const call *c, const mst_array *array, size_t bytes, const char *what,
                              int i) {
    if (!bytes || closed_memory_has(x->domain, array->data, bytes)) return MST_OK;
    return FAIL(MST_INTERNAL, "lagoon: node '%s': %s %d is not in the memory of device %d", c->node->name, what, i,
                x->device);
}

static mst_status copy_arguments(const instance *x, const call *c, const hlo_array *args) {
    const mst_compiled_options *o = c->node->options;
    const uint64_t number = (uint64_t)x->step->number;
    for (int i = 0; i < o->num_arguments; i++) {
        const mst_compiled_argument *argument = &o->argument[i];
        uint32_t word[2] = {(uint32_t)number, (uint32_t)(number >> 32)};
        const size_t bytes = bytes_of(&args[i]);
        const void *data = word;
        if (argument->kind == MST_HLO_SOURCE_VALUE) {
            const mst_array *array = &c->src[argument->source];
            MST_TRY(check_place(x, c, array, bytes, "source", argument->source));
            data = array->data;
        } else if (argument->kind == MST_HLO_SOURCE_KEY) {
            host->random_key(x->step->seed, argument->stream, word);
        }
        if (bytes) memcpy(args[i].data, data, bytes);
    }
    return MST_OK;
}

static mst_status copy_results(const instance *x, const call *c, const hlo_array *results) {
    for (int i = 0; i < c->node->num_dst; i++)
        MST_TRY(check_place(x, c, &c->dst[i], bytes_of(&results[i]), "output", i));
    for (int i = 0; i < c->node->num_dst; i++)
        if (results[i].count) memcpy(c->dst[i].data, results[i].data, bytes_of(&results[i]));
    return MST_OK;
}

/* Does COPY with the domain open. */
static mst_status copy_open(const instance *x, const call *c, const hlo_array *arrays,
                            mst_status (*copy)(const instance *x, const call *c, const hlo_array *arrays)) {
    MST_TRY(closed_memory_open(x->domain));
    const mst_status status = copy(x, c, arrays);
    const mst_status closed = closed_memory_close(x->domain);
    return status ? status : closed;
}

/* The error that the program itself has found, if any. It names the node that failed. */
static mst_status check_faults(const instance *x, const call *c, const hlo_array *results, mst_frame *frame) {
    const mst_compiled_options *o = c->node->options;
    int32_t word;
    if (!o->num_faults) return MST_OK;
    memcpy(&word, results[c->node->num_dst].data, sizeof word);
    if (!word) return MST_OK;
    if (word < 0 || word > o->num_faults)
        return FAIL(MST_INTERNAL, "lagoon: node '%s': the word of faults is %d, of %d", c->node->name, word,
                    o->num_faults);
    const mst_compiled_fault *fault = &o->fault[word - 1];
    atomic_store_explicit(&frame->at[x->device], fault->node, memory_order_relaxed);
    return FAIL(fault->code, "%s", fault->message);
}

static mst_status run_on(const instance *x, const call *c, const hlo_array *args, hlo_array *results,
                         mst_frame *frame) {
    char error[MOST_ERROR];
    MST_TRY(copy_open(x, c, args, copy_arguments));
    if (!hlo_run(c->program, args, hlo_num_arguments(c->program), results, error, sizeof error))
        return FAIL(MST_INTERNAL, "lagoon: the program of node '%s': %s", c->node->name, error);
    MST_TRY(check_faults(x, c, results, frame));
    return copy_open(x, c, results, copy_results);
}

/* Counts the runs of this process, and fails in the one that MUSTER_LAGOON_FAIL names. */
static mst_status count_run(void) {
    static _Atomic long long runs;
    const char *wanted = getenv("MUSTER_LAGOON_FAIL");
    const long long run = atomic_fetch_add(&runs, 1) + 1;
    char *end = NULL;
    if (!wanted || !*wanted) return MST_OK;
    const long long number = strtoll(wanted, &end, 10);
    if (*end || number < 1) return FAIL(MST_INVALID, "MUSTER_LAGOON_FAIL is '%s', not a number from 1", wanted);
    return run == number ? FAIL(MST_UNAVAILABLE, "lagoon: program failed") : MST_OK;
}

static mst_status run_program(const instance *x, const call *c, mst_frame *frame) {
    const int num_args = hlo_num_arguments(c->program), num_results = hlo_num_results(c->program);
    MST_TRY(count_run());
    hlo_array *args = calloc((size_t)num_args + 1, sizeof *args);
    hlo_array *results = calloc((size_t)num_results + 1, sizeof *results);
    bool enough = args && results;
    for (int i = 0; i < num_args && enough; i++) {
        args[i] = *hlo_argument(c->program, i);
        args[i].data = malloc(bytes_of(&args[i]) + 1);
        enough = args[i].data;
    }
    const mst_status status = enough ? run_on(x, c, args, results, frame)
                                     : FAIL(MST_OUT_OF_MEMORY, "lagoon: there is no memory to run a program");
    for (int i = 0; args && i < num_args; i++) free(args[i].data);
    for (int i = 0; results && i < num_results; i++) hlo_array_free(&results[i]);
    free(args);
    free(results);
    return status;
}

/* Source 1 becomes the value of source 0. */
static mst_status copy_assigned(const instance *x, const call *c, const hlo_array *type) {
    const size_t bytes = bytes_of(type);
    for (int i = 0; i < 2; i++) MST_TRY(check_place(x, c, &c->src[i], bytes, "source", i));
    if (bytes) memmove(c->src[0].data, c->src[1].data, bytes);
    return MST_OK;
}

static mst_status assign(const instance *x, const call *c) {
    hlo_array type = {.count = c->src[0].count};
    if (!find_type(c->src[0].dtype, &type.type))
        return FAIL(MST_INTERNAL, "lagoon: node '%s' has a dtype that StableHLO does not have", c->node->name);
    return copy_open(x, c, &type, copy_assigned);
}

static mst_status execute(void *context, int32_t first, int32_t end, struct mst_frame *frame) {
    const instance *x = context;
    for (int32_t k = first; k < end; k++) {
        const call *c = &x->calls[k];
        atomic_store_explicit(&frame->at[x->device], c->number, memory_order_relaxed);
        MST_TRY(c->program ? run_program(x, c, frame) : assign(x, c));
    }
    return MST_OK;
}

static const mst_backend backend = {.size = sizeof(mst_backend),
                                    .compile = compile,
                                    .destroy = destroy,
                                    .bind = bind,
                                    .unbind = unbind,
                                    .execute = execute};

/* ---- the device type ---- */

static bool supports(const mst_op *op, int num_src, const mst_spec *src) {
    const unsigned silent = MST_OP_VARIABLE | MST_OP_PLACEHOLDER | MST_OP_CONSTANT | MST_OP_NO_VALUE;
    hlo_type type;
    for (int i = 0; i < num_src; i++)
        if (!find_type(src[i].dtype, &type)) return false;
    return op->hlo || op->lower || op->flags & silent;
}

static const char *const engines[] = {NULL};

static const mst_device_type device_type = {.size = sizeof(mst_device_type),
                                            .name = "LAGOON",
                                            .compiles = true,
                                            .engines = engines,
                                            .supports = supports,
                                            .domain = closed_memory_find,
                                            .backend = &backend};

static mst_status load(const mst_registrar *registrar) {
    host = registrar;
    closed_memory_begin("lagoon", registrar);
    return registrar->device_type(&device_type);
}

static const mst_module module = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "lagoon", .version = "1", .load = load};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
