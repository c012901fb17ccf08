/* The module `lagoon`: devices for tests, which compile programs. Each has memory that nobody else may access, and
 * interprets the StableHLO of its programs (support/hlo_interpreter.h). So tests check the programs that a device
 * gets, and not kernels of the library.
 *
 * The addresses of arrays are only names, and programs run late, on a thread for each device
 * (support/late_arrays.h). So code that works here does not assume that a device is done when a call returns.
 * Compiling, which here is parsing, is an errand (run/errand.h): the first run of a program waits for it.
 *
 * An array that is donated to a program has no name from the start of the program on, and is freed at its end:
 * reading it is an error. An array with two names is not donated: the program reads it like any other.
 *
 * Tests set these variables of the environment:
 *
 *   MUSTER_LAGOON_FAIL=N           run number N of a program in this process, counted from 1 while the variable is
 *                                  set, fails
 *   MUSTER_LAGOON_STUCK=N          that run never ends
 *   MUSTER_LAGOON_COMPILE_STUCK=N  compilation number N, counted in the same way, never ends
 *   MUSTER_LAGOON_HOLD=FILE        while there is a file FILE.D, no run on device D ends; while there is a file
 *                                  FILE.text, no text is compiled
 *   MUSTER_LAGOON_TEXTS=FILE       each new program of this process is appended to FILE, then a line "// ----";
 *                                  several processes may share it
 *   MUSTER_LAGOON_BYTES=FILE       executables are bytes: the text, after a random number that differs for each
 *                                  compilation. They are made by mst_executable_make, and a line is
 *                                  appended to FILE for each: "compiled NUMBER KEY" where the text was compiled,
 *                                  "loaded NUMBER KEY" where the bytes came from elsewhere (run/executables.h). KEY is
 *                                  the beginning of the executable's key */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "plan/compiled.h"
#include "run/backend.h"
#include "run/errand.h"
#include "run/executables.h"
#include "run/frame.h"
#include "support/hlo_interpreter.h"
#include "support/late_arrays.h"

enum { MOST_ERROR = 1024 };

static const mst_registrar *host;

#define FAIL(code, ...) host->error_set((code), __FILE__, __LINE__, __VA_ARGS__)
#define NO_MEMORY() FAIL(MST_OUT_OF_MEMORY, "lagoon: there is no memory for a plan")

/* ---- variables of the environment ---- */

/* The number that VARIABLE is; 0: it is not set. */
static mst_status find_number(const char *variable, long long *out) {
    const char *text = getenv(variable);
    char *end = NULL;
    *out = 0;
    if (!text || !*text) return MST_OK;
    *out = strtoll(text, &end, 10);
    return *end ? FAIL(MST_INVALID, "%s is '%s', must be a number", variable, text) : MST_OK;
}

/* Sets OUT to the file that holds WHAT while it is there; NULL: there is none. The caller frees it. */
static mst_status find_hold(const char *what, char **out) {
    const char *file = getenv("MUSTER_LAGOON_HOLD");
    *out = NULL;
    if (!file || !*file) return MST_OK;
    const size_t size = strlen(file) + strlen(what) + 2;
    if (!(*out = malloc(size))) return NO_MEMORY();
    snprintf(*out, size, "%s.%s", file, what);
    return MST_OK;
}

/* ---- texts ---- */

/* A text that is being compiled, or was. It is kept after the last plan that used it, so that it does not count as new
 * again. */
typedef struct compiled_text {
    char *text;
    mst_errand *errand;           /* NULL: no plan has it */
    struct compilation *compiled; /* the errand's */
    int64_t uses;
    struct compiled_text *next;
} compiled_text;

/* What the errand of a text does. */
typedef struct compilation {
    const char *text;
    hlo_program *program; /* set when the errand has ended without an error */
    bool is_stuck;
    char *hold; /* it is not compiled while there is this file; NULL: no file is meant */
} compilation;

static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;
static compiled_text *texts;

/* Appends TEXT to the file that VARIABLE names, if it names one. */
static mst_status append(const char *variable, const char *text) {
    const char *path = getenv(variable);
    if (!path || !*path) return MST_OK;
    FILE *file = fopen(path, "a");
    if (!file) return FAIL(MST_IO, "%s: cannot open '%s'", variable, path);
    /* other processes append to it too; closing it ends the lock */
    const bool written = lockf(fileno(file), F_LOCK, 0) == 0 && fputs(text, file) >= 0;
    if (fclose(file) || !written) return FAIL(MST_IO, "%s: cannot write '%s'", variable, path);
    return MST_OK;
}

static mst_status log_text(const char *text) {
    static const char end[] = "\n// ----\n";
    const size_t size = strlen(text) + sizeof end;
    char *lines = malloc(size);
    if (!lines) return NO_MEMORY();
    snprintf(lines, size, "%s%s", text, end);
    const mst_status status = append("MUSTER_LAGOON_TEXTS", lines);
    free(lines);
    return status;
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

static mst_status parse_text(compilation *x, const char *text) {
    char error[MOST_ERROR];
    x->program = hlo_parse(text, error, sizeof error);
    return x->program ? MST_OK : FAIL(MST_INTERNAL, "lagoon: %s", error);
}

/* ---- executables as bytes ---- */

static const char head[] = "lagoon executable %016llx\n";
enum { HEAD = 35, NUMBER_AT = 18 };

static mst_executable_source source_of(const char *text) {
    return (mst_executable_source){.text = text, .options = "", .plugin = "lagoon 1", .kind = "lagoon"};
}

static mst_status log_bytes(const char *verb, const char *text, const void *data) {
    const mst_executable_source source = source_of(text);
    mst_executable_key key;
    char line[80];
    host->services->executable_key(&source, &key);
    snprintf(line, sizeof line, "%s %.16s %02x%02x%02x%02x\n", verb, (const char *)data + NUMBER_AT, key.byte[0],
             key.byte[1], key.byte[2], key.byte[3]);
    return append("MUSTER_LAGOON_BYTES", line);
}

/* Compiles a text to bytes. */
static mst_status compile_text(const mst_executable_source *source, void **data, size_t *size) {
    unsigned long long number;
    char *hold;
    if (strcmp(source->plugin, "lagoon 1") != 0 || strcmp(source->kind, "lagoon") != 0)
        return FAIL(MST_INVALID, "lagoon: a program for plugin '%s' and device '%s' cannot be compiled here",
                    source->plugin, source->kind);
    MST_TRY(find_hold("text", &hold));
    if (hold) late_while_file(hold);
    free(hold);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) return FAIL(MST_IO, "lagoon: no random number");
    const size_t bytes = HEAD + strlen(source->text);
    char *text = malloc(bytes + 1);
    if (!text) return NO_MEMORY();
    snprintf(text, HEAD + 1, head, number);
    strcpy(text + HEAD, source->text);
    *data = text;
    *size = bytes;
    return log_bytes("compiled", source->text, text);
}

static mst_status compile_own(void *context, void **data, size_t *size) {
    compilation *x = context;
    const mst_executable_source source = source_of(x->text);
    if (x->is_stuck) late_while_file(NULL);
    MST_TRY(compile_text(&source, data, size));
    return parse_text(x, x->text);
}

/* Makes the program from bytes that this or another process has made. */
static mst_status load_bytes(compilation *x, const char *data, size_t size) {
    const size_t length = strlen(x->text);
    if (size != HEAD + length || memcmp(data + HEAD, x->text, length) != 0)
        return FAIL(MST_CORRUPT, "lagoon: %zu bytes are no executable of this text", size);
    MST_TRY(log_bytes("loaded", x->text, data));
    return parse_text(x, x->text);
}

static mst_status make_bytes(compilation *x) {
    const mst_executable_order order = {
        .source = source_of(x->text), .device_type = "LAGOON", .compile = compile_own, .context = x};
    void *data;
    size_t size;
    MST_TRY(host->services->executable_make(&order, &data, &size));
    const mst_status status = data ? load_bytes(x, data, size) : MST_OK;
    free(data);
    return status;
}

static mst_status parse(void *context) {
    compilation *x = context;
    const char *bytes = getenv("MUSTER_LAGOON_BYTES");
    if (bytes && *bytes) return make_bytes(x);
    if (x->is_stuck) late_while_file(NULL);
    if (x->hold) late_while_file(x->hold);
    return parse_text(x, x->text);
}

static void free_compilation(void *context) {
    compilation *x = context;
    hlo_program_free(x->program);
    free(x->hold);
    free(x);
}

static mst_status start_compiling(compiled_text *x) {
    static const mst_errand_type type = {parse, free_compilation};
    static long long compilations;
    compilation *c = calloc(1, sizeof *c);
    if (!c) return NO_MEMORY();
    c->text = x->text;
    long long stuck;
    mst_status status = find_number("MUSTER_LAGOON_COMPILE_STUCK", &stuck);
    if (!status) status = find_hold("text", &c->hold);
    c->is_stuck = stuck && ++compilations == stuck;
    if (!status) status = host->services->errand_start(&type, c, &x->errand);
    if (status)
        free_compilation(c);
    else
        x->compiled = c;
    return status;
}

static mst_status get_text_locked(const char *text, compiled_text **out) {
    compiled_text *x = texts;
    while (x && strcmp(x->text, text) != 0) x = x->next;
    if (!x) MST_TRY(add_text(text, &x));
    if (!x->errand) MST_TRY(start_compiling(x));
    x->uses++;
    *out = x;
    return MST_OK;
}

/* Sets OUT to TEXT, and begins to compile it if no plan has it yet. put_text must follow. */
static mst_status get_text(const char *text, compiled_text **out) {
    pthread_mutex_lock(&text_lock);
    const mst_status status = get_text_locked(text, out);
    pthread_mutex_unlock(&text_lock);
    return status;
}

/* Leaves a text that is still being compiled. */
static void put_text(compiled_text *x) {
    if (!x) return;
    pthread_mutex_lock(&text_lock);
    if (--x->uses == 0) {
        host->services->errand_leave(x->errand);
        x->errand = NULL;
        x->compiled = NULL;
    }
    pthread_mutex_unlock(&text_lock);
}

/* ---- compiling ---- */

typedef struct executable {
    const mst_plan *plan;
    int device;
    compiled_text **text; /* by call; NULL: an assignment */
} executable;

/* The results of the program NODE that are arrays: its outputs, and what it writes. */
static int num_arrays(const mst_plan_node *node) {
    return mst_compiled_num_arrays(node->options, node->num_dst);
}

/* Checks that TYPE, that of a program's argument or result, is that of the value SPEC. WHAT and I name the value. */
static mst_status check_spec(const mst_plan_node *node, const hlo_array *type, const mst_spec *spec, const char *what,
                             int i) {
    char have[HLO_TYPE_TEXT], want[HLO_TYPE_TEXT];
    hlo_array wanted;
    if (!late_type_of(spec, &wanted))
        return FAIL(MST_INTERNAL, "lagoon: node '%s': %s %d has a dtype that StableHLO does not have", node->name, what,
                    i);
    if (hlo_same_type(type, &wanted)) return MST_OK;
    return FAIL(MST_INTERNAL, "lagoon: node '%s': %s %d is %s, but %s in the program", node->name, what, i,
                hlo_type_text(&wanted, want, sizeof want), hlo_type_text(type, have, sizeof have));
}

static mst_status check_argument(const mst_plan *plan, const mst_plan_node *node, const hlo_program *program, int i) {
    const mst_compiled_options *o = node->options;
    const mst_compiled_argument *argument = &o->argument[i];
    const hlo_array *type = hlo_argument(program, i), words = {.type = HLO_UI32, .ndim = 1, .dim = {2}};
    const mst_compiled_donation *donation =
        argument->kind == MST_HLO_SOURCE_VALUE ? mst_compiled_donation_of(node->options, argument->source) : NULL;
    const int result = donation ? donation->result : -1;
    if (hlo_donated_to(program, i) != result || (donation && (result < node->num_dst || result >= num_arrays(node))))
        return FAIL(MST_INTERNAL, "lagoon: node '%s': argument %d is donated to result %d, but to %d in the program",
                    node->name, i, result, hlo_donated_to(program, i));
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
    const int results = num_arrays(node) + (o->num_faults > 0);
    if (hlo_num_arguments(program) != o->num_arguments)
        return FAIL(MST_INTERNAL, "lagoon: node '%s' has %d arguments, its program %d", node->name, o->num_arguments,
                    hlo_num_arguments(program));
    if (hlo_num_results(program) != results)
        return FAIL(MST_INTERNAL, "lagoon: node '%s' has %d results, its program %d", node->name, results,
                    hlo_num_results(program));
    for (int i = 0; i < o->num_arguments; i++) MST_TRY(check_argument(plan, node, program, i));
    for (int i = 0; i < node->num_dst; i++)
        MST_TRY(check_spec(node, hlo_result(program, i), &plan->value[node->dst + i].spec, "output", i));
    if (o->num_faults && !hlo_same_type(hlo_result(program, num_arrays(node)), &word))
        return FAIL(MST_INTERNAL, "lagoon: node '%s': the word of faults is not tensor<i32>", node->name);
    return MST_OK;
}

static mst_status compile_call(const mst_plan_node *node, compiled_text **out) {
    if (node->group >= 0)
        return FAIL(MST_INTERNAL, "lagoon: node '%s' is for several devices, which share no memory", node->name);
    if (strcmp(node->op->name, "compiled") == 0) {
        const mst_compiled_options *o = node->options;
        return get_text(o->text, out);
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
        status = compile_call(&plan->node[plan->instance[program->call[k]].node], &text[k]);
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
    compiled_text *text;        /* NULL: an assignment */
    const hlo_program *program; /* of TEXT; NULL until the call is first made */
    const mst_array *src, *dst;
    int64_t began, ended; /* the last run of its program; 0: it has not ended */
} call;

typedef struct instance {
    const mst_plan *plan;
    const mst_step *step;
    mst_domain *domain;
    int device;
    call *calls;
    mst_array *arrays;      /* of all calls */
    _Atomic uint64_t frame; /* number of the frame to which the jobs belong; set when JOBS is ready for it */
    late_group jobs;
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
    x->plan = plan;
    x->step = binding->step;
    x->domain = plan->host->devices->device[e->device].domain;
    x->device = e->device;
    mst_array *next = x->arrays;
    mst_status status = MST_OK;
    for (int64_t k = 0; k < program->num_calls && !status; k++) {
        const int32_t number = plan->instance[program->call[k]].node;
        const mst_plan_node *node = &plan->node[number];
        x->calls[k] =
            (call){.node = node, .number = number, .text = e->text[k], .src = next, .dst = next + node->num_src};
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

/* One run of a program. */
typedef struct program_run {
    late_job job; /* first: a run is its job */
    call *call;
    bool fails, is_stuck;
    char *hold; /* it does not end while there is this file; NULL: no file is meant */
} program_run;

static void set_error(late_error *error, mst_status status, const call *c, const char *message) {
    error->status = status;
    error->node = c->number;
    snprintf(error->message, sizeof error->message, "lagoon: the program of node '%s': %s", c->node->name, message);
}

/* Gives the results of a run to the arrays that others have been waiting for. The word of faults is no array. */
static void give_results(late_job *job, hlo_array *result) {
    for (int i = 0; i < job->num_results; i++) {
        job->result[i]->array.data = result[i].data;
        result[i].data = NULL;
    }
}

static void run_program(late_job *job, late_error *error) {
    const program_run *run = (program_run *)job;
    call *c = run->call;
    const mst_compiled_options *o = c->node->options;
    char message[MOST_ERROR];
    const int num_results = hlo_num_results(c->program);
    c->began = host->services->clock_now();
    if (run->is_stuck) late_while_file(NULL);
    if (run->hold) late_while_file(run->hold);
    if (run->fails) {
        set_error(error, MST_UNAVAILABLE, c, "program failed");
        return;
    }
    hlo_array *args = calloc((size_t)job->num_args + 1, sizeof *args);
    hlo_array *results = calloc((size_t)num_results + 1, sizeof *results);
    for (int i = 0; args && i < job->num_args; i++) args[i] = job->arg[i]->array;
    if (!args || !results) {
        set_error(error, MST_OUT_OF_MEMORY, c, "there is no memory");
    } else if (!hlo_run(c->program, args, job->num_args, results, message, sizeof message)) {
        set_error(error, MST_INTERNAL, c, message);
    } else {
        int32_t word = 0;
        if (o->num_faults) memcpy(&word, results[num_arrays(c->node)].data, sizeof word);
        if (word) set_error(error, MST_INTERNAL, c, "it reports a fault");
        error->word = word;
        if (!word) give_results(job, results);
        c->ended = host->services->clock_now();
    }
    for (int i = 0; results && i < num_results; i++) hlo_array_free(&results[i]);
    free(args);
    free(results);
}

static void free_run(late_job *job) {
    free(((program_run *)job)->hold);
    free(job);
}

/* Two words, the argument of a program that is a key or the number of the step. */
static late_array *make_words(const uint32_t word[2]) {
    late_array *x = late_array_make(&(hlo_array){.type = HLO_UI32, .ndim = 1, .dim = {2}, .count = 2});
    if (x) x->array.data = malloc(2 * sizeof *word);
    if (!x || !x->array.data) {
        late_array_release(x);
        return NULL;
    }
    memcpy(x->array.data, word, 2 * sizeof *word);
    x->is_there = true;
    return x;
}

/* Sets OUT to argument I, with a reference. *TAKEN: it is donated, and has no name any more. */
static mst_status find_argument(const instance *x, const call *c, int i, late_array **out, bool *taken) {
    const mst_compiled_argument *argument = &((const mst_compiled_options *)c->node->options)->argument[i];
    const uint64_t number = (uint64_t)x->step->number;
    uint32_t word[2] = {(uint32_t)number, (uint32_t)(number >> 32)};
    if (argument->kind == MST_HLO_SOURCE_KEY) host->random_key(x->step->seed, argument->stream, word);
    *out = NULL;
    if (argument->kind != MST_HLO_SOURCE_VALUE)
        *out = make_words(word);
    else if (mst_compiled_donation_of(c->node->options, argument->source))
        *out = late_array_take(x->domain, c->src[argument->source].data);
    *taken = *out && argument->kind == MST_HLO_SOURCE_VALUE;
    if (!*out && argument->kind == MST_HLO_SOURCE_VALUE) *out = late_array_at(x->domain, c->src[argument->source].data);
    if (*out && hlo_same_type(&(*out)->array, hlo_argument(c->program, i))) return MST_OK;
    return FAIL(MST_INTERNAL, "lagoon: node '%s': argument %d is not on device %d", c->node->name, i, x->device);
}

/* The address of array I of the results: that of an output, or of a variable that the program writes. */
static void *address_of_result(const call *c, int i) {
    const mst_compiled_options *o = c->node->options;
    return i < c->node->num_dst ? c->dst[i].data : c->src[o->donation[i - c->node->num_dst].source].data;
}

static mst_status make_result(const instance *x, const call *c, int i, late_array **out) {
    *out = late_array_make(hlo_result(c->program, i));
    if (!*out) return NO_MEMORY();
    return late_array_put(x->domain, address_of_result(c, i), bytes_of(&(*out)->array), *out);
}

/* Counts a run on DEVICE, and decides whether it fails, is stuck or succeeds. */
static mst_status choose_end(program_run *run, int device) {
    static _Atomic long long runs;
    long long fails, stuck;
    char what[16];
    snprintf(what, sizeof what, "%d", device);
    MST_TRY(find_number("MUSTER_LAGOON_FAIL", &fails));
    MST_TRY(find_number("MUSTER_LAGOON_STUCK", &stuck));
    MST_TRY(find_hold(what, &run->hold));
    if (!fails && !stuck) return MST_OK;
    const long long number = atomic_fetch_add(&runs, 1) + 1;
    run->fails = number == fails;
    run->is_stuck = number == stuck;
    return MST_OK;
}

/* Waits until TEXT, the program of NODE, has been compiled. */
static mst_status await_text(compiled_text *text, const mst_plan_node *node, int64_t deadline) {
    char what[MOST_ERROR];
    snprintf(what, sizeof what, "compiling the program of node '%s'", node->name);
    return host->services->errand_wait(text->errand, deadline, what);
}

/* Waits until the program of C has been compiled. */
static mst_status await_program(const instance *x, call *c, int64_t deadline) {
    if (c->program) return MST_OK;
    MST_TRY(await_text(c->text, c->node, deadline));
    MST_TRY(check_program(x->plan, c->node, c->text->compiled->program));
    c->program = c->text->compiled->program;
    return MST_OK;
}

/* Starts a program. Its arguments may be on their way, and its results are. */
static mst_status start_program(instance *x, call *c) {
    const int num_args = hlo_num_arguments(c->program), num_results = num_arrays(c->node);
    program_run *run = calloc(1, sizeof *run);
    late_array **arg = calloc((size_t)num_args + 1, sizeof *arg);
    late_array **result = calloc((size_t)num_results + 1, sizeof *result);
    bool *takes = calloc((size_t)num_args + 1, sizeof *takes);
    mst_status status = run && arg && result && takes ? MST_OK : NO_MEMORY();
    for (int i = 0; i < num_args && !status; i++) status = find_argument(x, c, i, &arg[i], &takes[i]);
    if (!status) status = choose_end(run, x->domain->index);
    for (int i = 0; i < num_results && !status; i++) status = make_result(x, c, i, &result[i]);
    if (!status) {
        run->call = c;
        c->ended = 0;
        run->job = (late_job){.run = run_program,
                              .free = free_run,
                              .group = &x->jobs,
                              .node = c->number,
                              .num_args = num_args,
                              .num_results = num_results,
                              .arg = arg,
                              .result = result,
                              .takes = takes};
        return late_start(x->domain, &run->job);
    }
    for (int i = 0; arg && i < num_args; i++) late_array_release(arg[i]);
    for (int i = 0; result && i < num_results; i++) late_array_release(result[i]);
    free(arg);
    free(result);
    free(takes);
    if (run) free(run->hold);
    free(run);
    return status;
}

/* Behind the gate: source 1 becomes the value of source 0, a variable. Only the name changes. */
static mst_status assign(const instance *x, const call *c) {
    late_array *value = late_array_at(x->domain, c->src[1].data);
    if (!value) return FAIL(MST_INTERNAL, "lagoon: node '%s': its value is not on device %d", c->node->name, x->device);
    const mst_status status = late_array_put(x->domain, c->src[0].data, bytes_of(&value->array), value);
    late_array_release(value);
    return status;
}

static mst_status execute(void *context, int32_t first, int32_t end, struct mst_frame *frame) {
    instance *x = context;
    if (atomic_load(&x->frame) != frame->number) { /* all jobs of the frame before have ended */
        x->jobs = (late_group){0};
        atomic_store(&x->frame, frame->number);
    }
    for (int32_t k = first; k < end; k++) {
        call *c = &x->calls[k];
        int64_t begin = frame->notes ? host->services->clock_now() : 0;
        const bool compiles = c->text && !c->program;
        atomic_store_explicit(&frame->at[x->device], c->number, memory_order_relaxed);
        if (compiles) MST_TRY(await_program(x, c, frame->deadline));
        if (compiles && frame->notes) {
            host->services->note_compiling(frame->notes, x->device, c->number, begin);
            begin = host->services->clock_now();
        }
        MST_TRY(c->text ? start_program(x, c) : assign(x, c));
        if (frame->notes) host->services->note_call(frame->notes, x->device, c->number, begin);
    }
    return MST_OK;
}

static mst_status settle(void *context, mst_frame *frame, int64_t deadline, int32_t *node) {
    instance *x = context;
    late_error error;
    *node = -1;
    if (atomic_load(&x->frame) != frame->number) return MST_OK; /* it has started nothing for this frame */
    const mst_status status = late_wait(&x->jobs, deadline, &error);
    if (status || error.status) *node = error.node;
    if (status || !error.status) return status;
    if (!error.word) return FAIL(error.status, "%s", error.message);
    return host->services->compiled_fail(frame, error.node, error.word, node);
}

static void note_programs(void *context, mst_frame *frame) {
    const instance *x = context;
    if (atomic_load(&x->frame) != frame->number) return; /* it has started nothing for this frame */
    for (int64_t k = 0; k < x->plan->program[x->device].num_calls; k++) {
        const call *c = &x->calls[k];
        if (c->text && c->ended) host->services->note_program(frame->notes, x->device, c->number, c->began, c->ended);
    }
}

static mst_status ready(void *context, mst_frame *frame, int32_t *node) {
    instance *x = context;
    const int64_t count = x->plan->program[x->device].num_calls;
    for (int64_t k = 0; k < count; k++) {
        call *c = &x->calls[k];
        if (!c->text || c->node->region != MST_COMMIT) continue;
        *node = c->number;
        atomic_store_explicit(&frame->at[x->device], c->number, memory_order_relaxed);
        MST_TRY(await_program(x, c, frame->deadline));
        atomic_store_explicit(&frame->at[x->device], -1, memory_order_relaxed);
    }
    *node = -1;
    return MST_OK;
}

/* Each text is parsed once, and its values are there only while it runs: no memory is for code. */
static mst_status inside_bytes(void *context, int64_t deadline, int64_t *bytes) {
    const executable *e = context;
    const mst_program *program = &e->plan->program[e->device];
    *bytes = 0;
    for (int64_t k = 0; k < program->num_calls; k++) {
        if (!e->text[k]) continue;
        MST_TRY(await_text(e->text[k], &e->plan->node[e->plan->instance[program->call[k]].node], deadline));
        const int64_t inside = hlo_inside_bytes(e->text[k]->compiled->program);
        if (inside > *bytes) *bytes = inside;
    }
    return MST_OK;
}

static const mst_backend backend = {.size = sizeof(mst_backend),
                                    .compile = compile,
                                    .destroy = destroy,
                                    .bind = bind,
                                    .unbind = unbind,
                                    .execute = execute,
                                    .settle = settle,
                                    .ready = ready,
                                    .compile_text = compile_text,
                                    .inside_bytes = inside_bytes,
                                    .note_programs = note_programs};

/* ---- the device type ---- */

static bool supports(const mst_op *op, int num_src, const mst_spec *src) {
    const unsigned silent = MST_OP_VARIABLE | MST_OP_PLACEHOLDER | MST_OP_CONSTANT | MST_OP_NO_VALUE;
    hlo_type type;
    for (int i = 0; i < num_src; i++)
        if (!late_type(src[i].dtype, &type)) return false;
    return op->hlo || op->lower || op->flags & silent;
}

static const char *const engines[] = {NULL};

static const mst_device_type device_type = {.size = sizeof(mst_device_type),
                                            .name = "LAGOON",
                                            .compiles = true,
                                            .engines = engines,
                                            .supports = supports,
                                            .domain = late_arrays_domain,
                                            .backend = &backend};

static mst_status load(const mst_registrar *registrar) {
    host = registrar;
    late_arrays_begin("lagoon", registrar);
    return registrar->device_type(&device_type);
}

static const mst_module module = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "lagoon", .version = "1", .load = load};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
