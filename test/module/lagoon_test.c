/* The backend of the test devices `lagoon` (module/lagoon.c), which interpret programs in StableHLO and run them
 * late. Each test makes a plan of one node by hand, and gives it directly to the backend. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "plan/compiled.h"
#include "run/backend.h"
#include "run/frame.h"
#include "support/folder.h"
#include "support/test.h"

/* ---- a plan of one node ---- */

enum { MOST_VALUES = 16, VALUE_BYTES = 256, NUMBER = 1, DEVICES = 3 };

static const double PATIENCE = 60,
                    MOMENT = 0.05; /* seconds to wait for a run that will end, and for one that does not */

typedef struct one_node {
    mst_devices devices;
    mst_plan_host host;
    mst_program program[MOST_VALUES]; /* one for each device */
    mst_plan_instance instance;
    int32_t call;
    mst_plan_node node[NUMBER + 1]; /* the last is the node: its number is not that of its call */
    mst_plan_value value[MOST_VALUES];
    int32_t source[MOST_VALUES];
    mst_compiled_options options;
    mst_compiled_argument argument[MOST_VALUES];
    mst_plan plan;
    char *memory; /* of device 0; value i is at i * VALUE_BYTES */
    mst_step step;
    _Atomic int32_t at[MOST_VALUES];
    mst_binding binding;
    mst_frame frame;
    void *executable, *bound;
    double seconds; /* until the deadline of a run */
} one_node;

static int runs; /* of programs that were started while one of them was chosen, which lagoon counts too */

static mst_domain *domain_of(const one_node *x, int device) {
    return x->devices.device[device].domain;
}

static void begin(one_node *x) {
    void *memory;
    *x = (one_node){.seconds = PATIENCE};
    EXPECT_OK(mst_devices_create("lagoon:3/1", NULL, 0, NULL, &x->devices));
    assert_in_range(x->devices.count, DEVICES, MOST_VALUES);
    EXPECT_OK(domain_of(x, 0)->type->alloc(domain_of(x, 0), (size_t)MOST_VALUES * VALUE_BYTES, &memory));
    x->memory = memory;
    x->host.devices = &x->devices;
    x->instance.node = NUMBER;
    x->program[0].call = &x->call;
    x->program[0].num_calls = 1;
    x->node[NUMBER] =
        (mst_plan_node){.op = &mst_op_compiled, .options = &x->options, .name = "tried", .src = x->source, .group = -1};
    x->options.argument = x->argument;
    x->plan = (mst_plan){.host = &x->host,
                         .node = x->node,
                         .num_nodes = NUMBER + 1,
                         .value = x->value,
                         .program = x->program,
                         .instance = &x->instance,
                         .num_instances = 1};
}

static const mst_backend *backend_of(const one_node *x) {
    return x->devices.device[0].type->backend;
}

static void forget_program(one_node *x) {
    if (x->bound) backend_of(x)->unbind(x->bound);
    if (x->executable) backend_of(x)->destroy(x->executable);
    x->bound = x->executable = NULL;
}

static void end(one_node *x) {
    forget_program(x);
    domain_of(x, 0)->type->free(domain_of(x, 0), x->memory, (size_t)MOST_VALUES * VALUE_BYTES);
    mst_devices_free(&x->devices);
}

static int32_t add_value(one_node *x, mst_dtype dtype, mst_shape shape) {
    const int32_t value = (int32_t)x->plan.num_values++;
    assert_in_range(value, 0, MOST_VALUES - 1);
    x->value[value] = (mst_plan_value){.spec = {dtype, shape}, .node = NUMBER, .root = value};
    return value;
}

/* All sources come before all outputs. */
static int32_t add_source(one_node *x, mst_dtype dtype, mst_shape shape) {
    const int32_t value = add_value(x, dtype, shape);
    const int32_t source = x->node[NUMBER].num_src++;
    x->source[source] = value;
    x->argument[x->options.num_arguments++] = (mst_compiled_argument){MST_HLO_SOURCE_VALUE, source, 0};
    return value;
}

static int32_t add_output(one_node *x, mst_dtype dtype, mst_shape shape) {
    const int32_t value = add_value(x, dtype, shape);
    if (!x->node[NUMBER].num_dst++) x->node[NUMBER].dst = value;
    return value;
}

static mst_array array_at(const void *data, mst_dtype dtype, mst_shape shape) {
    return (mst_array){(void *)(uintptr_t)data, mst_shape_count(shape), dtype, shape};
}

/* VALUE in the memory of device 0, or DATA with its dtype and shape. */
static mst_array array_of(const one_node *x, int32_t value, const void *data) {
    const mst_spec *spec = &x->value[value].spec;
    return array_at(data ? data : x->memory + value * VALUE_BYTES, spec->dtype, spec->shape);
}

static mst_status copy(mst_domain *to, mst_array dst, mst_domain *from, mst_array src, double seconds) {
    return mst_domain_copy_array(to, &dst, from, &src, mst_clock_after(seconds));
}

static void put(const one_node *x, int32_t value, const void *data) {
    EXPECT_OK(copy(domain_of(x, 0), array_of(x, value, NULL), &mst_domain_host, array_of(x, value, data), PATIENCE));
}

static mst_status try_to_get(const one_node *x, int32_t value, void *data, double seconds) {
    return copy(&mst_domain_host, array_of(x, value, data), domain_of(x, 0), array_of(x, value, NULL), seconds);
}

static void get(const one_node *x, int32_t value, void *data) {
    EXPECT_OK(try_to_get(x, value, data, PATIENCE));
}

static mst_status fill(const mst_binding *binding, int32_t value, bool shape_only, mst_array *array) {
    *array = array_of(binding->context, value, NULL);
    if (shape_only) array->data = NULL;
    return MST_OK;
}

static mst_status compile(one_node *x, const char *text) {
    x->options.text = text;
    return backend_of(x)->compile(&x->plan, 0, &x->executable);
}

/* Starts a run in a frame of its own. */
static mst_status start(one_node *x) {
    if (!x->bound) {
        x->binding = (mst_binding){.plan = &x->plan, .step = &x->step, .fill = fill, .context = x};
        EXPECT_OK(backend_of(x)->bind(x->executable, &x->binding, &x->bound));
    }
    x->frame = (mst_frame){.deadline = mst_clock_after(x->seconds),
                           .devices = &x->devices,
                           .plan = &x->plan,
                           .binding = &x->binding,
                           .step = x->step,
                           .at = x->at,
                           .number = x->frame.number + 1};
    for (int d = 0; d < x->devices.count; d++) atomic_store(&x->at[d], -1);
    const mst_status status = backend_of(x)->execute(x->bound, 0, 1, &x->frame);
    const bool is_chosen = getenv("MUSTER_LAGOON_FAIL") || getenv("MUSTER_LAGOON_STUCK");
    if (!status && is_chosen) runs += x->node[NUMBER].op == &mst_op_compiled;
    return status;
}

/* Waits for the run. *NODE: the node that has failed, or has not ended. */
static mst_status settle(one_node *x, double seconds, int32_t *node) {
    return backend_of(x)->settle(x->bound, &x->frame, mst_clock_after(seconds), node);
}

static void run(one_node *x) {
    int32_t node;
    EXPECT_OK(start(x));
    EXPECT_OK(settle(x, PATIENCE, &node));
    assert_int_equal(node, -1);
}

/* Whether the system can read a byte there for this process. */
static bool is_readable(const char *data) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const ssize_t written = write(ends[1], data, 1);
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    if (written < 0) assert_int_equal(error, EFAULT);
    return written == 1;
}

/* ---- programs ---- */

#define PROGRAM(signature, body) "module @main {\n  func.func public @main" signature " {\n" body "  }\n}\n"

#define ADDITION                                                                                       \
    PROGRAM("(%a0: tensor<3xf32>, %a1: tensor<3xf32>) -> (tensor<3xf32>)",                             \
            "    %1 = \"stablehlo.add\"(%a0, %a1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n" \
            "    \"func.return\"(%1) : (tensor<3xf32>) -> ()\n")
static const char addition[] = ADDITION;

/* The second argument becomes the word of faults: not 0 if a check in the program has failed (plan/compiled.h). */
static const char faulty[] = PROGRAM("(%a0: tensor<3xf32>, %a1: tensor<i32>) -> (tensor<3xf32>, tensor<i32>)",
                                     "    \"func.return\"(%a0, %a1) : (tensor<3xf32>, tensor<i32>) -> ()\n");

/* Converts words of 32 bits to i64, since no value can have the type ui32. */
static const char words[] = PROGRAM("(%a0: tensor<2xui32>, %a1: tensor<2xui32>) -> (tensor<2xi64>, tensor<2xi64>)",
                                    "    %1 = \"stablehlo.convert\"(%a0) : (tensor<2xui32>) -> tensor<2xi64>\n"
                                    "    %2 = \"stablehlo.convert\"(%a1) : (tensor<2xui32>) -> tensor<2xi64>\n"
                                    "    \"func.return\"(%1, %2) : (tensor<2xi64>, tensor<2xi64>) -> ()\n");

#define ALL_TYPES                                                                                               \
    "tensor<2xf32>, tensor<2xf64>, tensor<2xbf16>, tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xi1>, " \
    "tensor<0xf32>"
static const char all_types[] = PROGRAM(
    "(%a0: tensor<2xf32>, %a1: tensor<2xf64>, %a2: tensor<2xbf16>, %a3: tensor<2xi32>, %a4: tensor<2xi64>, "
    "%a5: tensor<2xui8>, %a6: tensor<2xi1>, %a7: tensor<0xf32>) -> (" ALL_TYPES ")",
    "    \"func.return\"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (" ALL_TYPES ") -> ()\n");

static const float left[] = {1, 2, 3}, right[] = {10, 20, 30};

/* Makes the node ready for `addition`, with values in sources 0 and 1. *OUT is its output. */
static void begin_addition(one_node *x, int32_t *out) {
    begin(x);
    put(x, add_source(x, MST_F32, MST_SHAPE(3)), left);
    put(x, add_source(x, MST_F32, MST_SHAPE(3)), right);
    *out = add_output(x, MST_F32, MST_SHAPE(3));
}

/* ---- devices and memory ---- */

static void arrays_are_copied_and_their_memory_is_closed(void **state) {
    (void)state;
    one_node x;
    void *second;
    float got[3] = {0};
    begin(&x);
    mst_domain *domain = domain_of(&x, 1);
    assert_ptr_not_equal(domain_of(&x, 0), domain);
    assert_false(domain->type->host);
    EXPECT_OK(domain->type->alloc(domain, sizeof left, &second));
    const int32_t value = add_value(&x, MST_F32, MST_SHAPE(3));
    put(&x, value, left);
    EXPECT_OK(copy(domain, array_of(&x, value, second), domain_of(&x, 0), array_of(&x, value, NULL), PATIENCE));
    EXPECT_OK(copy(&mst_domain_host, array_of(&x, value, got), domain, array_of(&x, value, second), PATIENCE));
    assert_memory_equal(got, left, sizeof left);
    assert_true(is_readable((const char *)left));
    assert_false(is_readable(x.memory));
    assert_false(is_readable(second));
    domain->type->free(domain, second, sizeof left);
    end(&x);
}

static void ops_with_text_are_supported(void **state) {
    (void)state;
    one_node x;
    const mst_op *add = mst_find_op("add"), *hash = mst_find_op("string_to_hash_bucket_fast");
    const mst_spec number = {MST_F32, MST_SHAPE(3)}, string = {MST_STRING, MST_SHAPE(3)};
    begin(&x);
    const mst_device_type *type = x.devices.device[0].type;
    assert_true(type->compiles);
    assert_true(type->supports(add, 2, (mst_spec[]){number, number}));
    assert_true(type->supports(mst_find_op("variable"), 0, NULL));
    assert_false(type->supports(hash, 1, &string));
    assert_false(type->supports(mst_find_op("reshape"), 1, &string));
    end(&x);
}

/* ---- running ---- */

static void program_runs_and_leaves_memory_closed(void **state) {
    (void)state;
    one_node x;
    int32_t out;
    float got[3];
    begin_addition(&x, &out);
    EXPECT_OK(compile(&x, addition));
    for (int i = 0; i < 2; i++) {
        run(&x);
        assert_int_equal(atomic_load(&x.at[0]), NUMBER);
        get(&x, out, got);
        assert_memory_equal(got, ((float[]){11, 22, 33}), sizeof got);
        assert_false(is_readable(x.memory));
    }
    end(&x);
}

static void argument_may_be_any_source_any_number_of_times(void **state) {
    (void)state;
    one_node x;
    int32_t out;
    float got[3];
    begin_addition(&x, &out);
    x.argument[0].source = 1;
    EXPECT_OK(compile(&x, addition));
    run(&x);
    get(&x, out, got);
    assert_memory_equal(got, ((float[]){20, 40, 60}), sizeof got);
    end(&x);
}

/* Source 0 is replaced by another array at the same address, perhaps before the program has begun to run. */
static void program_sees_the_arrays_that_were_there_when_it_was_started(void **state) {
    (void)state;
    enum { TIMES = 20 };
    one_node x;
    int32_t out;
    float got[3];
    begin_addition(&x, &out);
    EXPECT_OK(compile(&x, addition));
    for (int i = 0; i < TIMES; i++) {
        put(&x, x.source[0], left);
        EXPECT_OK(start(&x));
        put(&x, x.source[0], right);
        get(&x, out, got); /* waits for the program */
        assert_memory_equal(got, ((float[]){11, 22, 33}), sizeof got);
        get(&x, x.source[0], got);
        assert_memory_equal(got, right, sizeof got);
    }
    run(&x);
    end(&x);
}

static void values_of_all_dtypes_go_in_and_out(void **state) {
    (void)state;
    static const mst_dtype dtype[] = {MST_F32, MST_F64, MST_BF16, MST_I32, MST_I64, MST_U8, MST_BOOL};
    enum { NUM = sizeof dtype / sizeof *dtype };
    one_node x;
    unsigned char wanted[NUM][16], got[16];
    begin(&x);
    for (int i = 0; i < NUM; i++) {
        for (int k = 0; k < 16; k++) wanted[i][k] = dtype[i] == MST_BOOL ? k % 2 == 0 : (unsigned char)(16 * i + k);
        put(&x, add_source(&x, dtype[i], MST_SHAPE(2)), wanted[i]);
    }
    put(&x, add_source(&x, MST_F32, MST_SHAPE(0)), NULL);
    for (int i = 0; i < NUM; i++) add_output(&x, dtype[i], MST_SHAPE(2));
    const int32_t empty = add_output(&x, MST_F32, MST_SHAPE(0));
    EXPECT_OK(compile(&x, all_types));
    run(&x);
    for (int i = 0; i < NUM; i++) {
        get(&x, x.node[NUMBER].dst + i, got);
        assert_memory_equal(got, wanted[i], 2 * mst_dtype_size(dtype[i]));
    }
    get(&x, empty, got);
    end(&x);
}

static void key_and_step_are_those_of_the_run(void **state) {
    (void)state;
    enum { STREAM = 77 };
    one_node x;
    int64_t got[2];
    begin(&x);
    x.options.num_arguments = 2;
    x.argument[0] = (mst_compiled_argument){MST_HLO_SOURCE_KEY, -1, STREAM};
    x.argument[1] = (mst_compiled_argument){MST_HLO_SOURCE_STEP, -1, 0};
    const int32_t key = add_output(&x, MST_I64, MST_SHAPE(2)), step = add_output(&x, MST_I64, MST_SHAPE(2));
    EXPECT_OK(compile(&x, words));
    for (int64_t i = 1; i <= 2; i++) {
        const mst_rng wanted = mst_rng_make((uint64_t)i, STREAM, 0);
        x.step = (mst_step){.seed = (uint64_t)i, .number = (i << 32) + 5};
        run(&x);
        get(&x, key, got);
        assert_memory_equal(got, ((int64_t[]){wanted.key[0], wanted.key[1]}), sizeof got);
        get(&x, step, got);
        assert_memory_equal(got, ((int64_t[]){5, i}), sizeof got);
    }
    end(&x);
}

/* Runs with WORD as the word of faults. */
static void run_with_word(one_node *x, int32_t source, int32_t word) {
    put(x, source, &word);
    EXPECT_OK(start(x));
}

/* Each call gives the same error. */
#define EXPECT_FAULT(x, code, text, wanted)                          \
    for (int time_ = 0; time_ < 2; time_++) {                        \
        int32_t node_;                                               \
        EXPECT_ERROR(settle((x), PATIENCE, &node_), (code), (text)); \
        assert_int_equal(node_, (wanted));                           \
    }

static void word_of_faults_names_error_and_node(void **state) {
    (void)state;
    static const mst_compiled_fault fault[] = {{MST_INVALID, "an index is out of range", 20, -1},
                                               {MST_NUMERICS, "100% of it is NaN", 30, -1},
                                               {MST_NUMERICS, "", NUMBER, 2}};
    one_node x;
    float got[3];
    begin(&x);
    put(&x, add_source(&x, MST_F32, MST_SHAPE(3)), left);
    const int32_t word = add_source(&x, MST_I32, mst_shape_make(0, NULL)), out = add_output(&x, MST_F32, MST_SHAPE(3));
    x.options.num_faults = 3;
    x.options.fault = fault;
    x.step.number = 7;
    EXPECT_OK(compile(&x, faulty));
    run_with_word(&x, word, 1);
    EXPECT_FAULT(&x, MST_INVALID, "an index is out of range", 20);
    run_with_word(&x, word, 2);
    EXPECT_FAULT(&x, MST_NUMERICS, "100% of it is NaN", 30);
    run_with_word(&x, word, 3);
    EXPECT_FAULT(&x, MST_NUMERICS, "'tried' made a NaN or Inf in f32[3], the first in step 7", NUMBER);
    for (int32_t wrong = -1; wrong <= 4; wrong += 5) {
        run_with_word(&x, word, wrong);
        EXPECT_FAULT(&x, MST_INTERNAL, "the word of faults is", NUMBER);
    }
    EXPECT_ERROR(try_to_get(&x, out, got, PATIENCE), MST_INTERNAL, "it reports a fault");
    put(&x, word, &(int32_t){0});
    run(&x);
    get(&x, out, got);
    assert_memory_equal(got, left, sizeof left);
    end(&x);
}

static void assignment_behind_the_gate_gives_the_variable_another_array(void **state) {
    (void)state;
    one_node x;
    int32_t out;
    float got[3];
    begin_addition(&x, &out);
    x.node[NUMBER].op = mst_find_op("assign");
    x.node[NUMBER].region = MST_COMMIT;
    EXPECT_OK(compile(&x, NULL));
    run(&x);
    for (int i = 0; i < 2; i++) {
        get(&x, x.source[i], got);
        assert_memory_equal(got, right, sizeof right);
    }
    put(&x, x.source[1], left); /* the two are independent again */
    get(&x, x.source[0], got);
    assert_memory_equal(got, right, sizeof right);
    assert_false(is_readable(x.memory));
    end(&x);
}

/* ---- what is refused ---- */

static void source_that_is_not_there_is_an_error(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        one_node x;
        int32_t out, node;
        char wanted[64];
        begin_addition(&x, &out);
        /* an array that begins elsewhere covers its first bytes */
        const mst_array cover = array_at(x.memory + i * VALUE_BYTES - 8 * i, MST_F32, MST_SHAPE(4));
        EXPECT_OK(copy(domain_of(&x, 0), cover, &mst_domain_host, array_at((float[4]){0}, MST_F32, MST_SHAPE(4)), 0));
        EXPECT_OK(compile(&x, addition));
        snprintf(wanted, sizeof wanted, "node 'tried': argument %d is not on device 0", i);
        EXPECT_ERROR(start(&x), MST_INTERNAL, wanted);
        EXPECT_OK(settle(&x, PATIENCE, &node));
        end(&x);
    }
}

/* The first run waits for the program, and finds what is wrong with it; the next one does too. */
static void expect_refused(one_node *x, const char *text, const char *message) {
    int32_t node;
    EXPECT_OK(compile(x, text));
    for (int i = 0; i < 2; i++) {
        EXPECT_ERROR(start(x), MST_INTERNAL, message);
        assert_int_equal(atomic_load(&x->at[0]), NUMBER);
        EXPECT_OK(settle(x, PATIENCE, &node));
    }
    forget_program(x);
}

static void program_that_is_not_that_of_its_node_is_refused(void **state) {
    (void)state;
    one_node x;
    int32_t out;
    begin_addition(&x, &out);
    expect_refused(&x, "module @main {\n  nothing\n", "compiling the program of node 'tried': lagoon: line 2: ");
    x.value[1].spec.shape = MST_SHAPE(4);
    expect_refused(&x, addition, "node 'tried': source 1 is tensor<4xf32>, but tensor<3xf32> in the program");
    x.value[1].spec = (mst_spec){MST_STRING, MST_SHAPE(3)};
    expect_refused(&x, addition, "source 1 has a dtype that StableHLO does not have");
    x.value[1].spec = (mst_spec){MST_F32, MST_SHAPE(3)};
    x.value[out].spec.dtype = MST_I32;
    expect_refused(&x, addition, "output 0 is tensor<3xi32>, but tensor<3xf32> in the program");
    x.value[out].spec.dtype = MST_F32;
    x.options.num_faults = 1;
    expect_refused(&x, addition, "node 'tried' has 2 results, its program 1");
    x.options.num_faults = 0;
    x.options.num_arguments = 1;
    expect_refused(&x, addition, "node 'tried' has 1 arguments, its program 2");
    x.options.num_arguments = 2;
    x.argument[0].source = 2;
    expect_refused(&x, addition, "argument 0 is source 2, of 2");
    x.argument[0].kind = MST_HLO_SOURCE_KEY;
    expect_refused(&x, addition, "argument 0 is not tensor<2xui32>");
    x.argument[0].kind = MST_HLO_SOURCE_TENSOR;
    expect_refused(&x, addition, "argument 0 is of kind 3");
    end(&x);
}

static void node_that_is_no_program_is_refused(void **state) {
    (void)state;
    one_node x;
    int32_t out;
    begin_addition(&x, &out);
    x.node[NUMBER].op = mst_find_op("add");
    EXPECT_ERROR(compile(&x, NULL), MST_INTERNAL, "node 'tried' is add, which is not a program");
    x.node[NUMBER].op = mst_find_op("assign");
    EXPECT_ERROR(compile(&x, NULL), MST_INTERNAL, "node 'tried' is assign, which is not a program");
    x.node[NUMBER].op = &mst_op_compiled;
    x.node[NUMBER].group = 0;
    EXPECT_ERROR(compile(&x, addition), MST_INTERNAL, "node 'tried' is for several devices");
    end(&x);
}

/* ---- variables of the environment ---- */

static int forget_variables(void **state) {
    (void)state;
    return unsetenv("MUSTER_LAGOON_FAIL") | unsetenv("MUSTER_LAGOON_STUCK") | unsetenv("MUSTER_LAGOON_HOLD") |
           unsetenv("MUSTER_LAGOON_TEXTS");
}

static int end_folder(void **state) {
    return forget_variables(state) | folder_remove(state);
}

/* Chooses the program that is the NEXT to be started, from 1. */
static void choose(const char *variable, int next) {
    char number[16];
    snprintf(number, sizeof number, "%d", runs + next);
    setenv(variable, number, 1);
}

static void chosen_run_fails(void **state) {
    (void)state;
    static const char message[] = "lagoon: the program of node 'tried': program failed";
    one_node x;
    int32_t out;
    float got[3];
    begin_addition(&x, &out);
    EXPECT_OK(compile(&x, addition));
    choose("MUSTER_LAGOON_FAIL", 2);
    run(&x);
    EXPECT_OK(start(&x));
    EXPECT_FAULT(&x, MST_UNAVAILABLE, message, NUMBER);
    EXPECT_ERROR(try_to_get(&x, out, got, PATIENCE), MST_UNAVAILABLE, message);
    run(&x);
    get(&x, out, got);
    setenv("MUSTER_LAGOON_FAIL", "often", 1);
    EXPECT_ERROR(start(&x), MST_INVALID, "MUSTER_LAGOON_FAIL is 'often', must be a number");
    end(&x);
}

/* The result of a failing program goes to device 1, and from there to device 2. Both devices get the error. */
static void copies_of_what_could_not_be_made_fail_too(void **state) {
    (void)state;
    one_node x;
    int32_t out, node;
    float got[3];
    void *there[DEVICES];
    begin_addition(&x, &out);
    EXPECT_OK(compile(&x, addition));
    there[0] = x.memory + out * VALUE_BYTES;
    for (int d = 1; d < DEVICES; d++) EXPECT_OK(domain_of(&x, d)->type->alloc(domain_of(&x, d), sizeof got, &there[d]));
    for (int i = 0; i < 2; i++) {
        choose("MUSTER_LAGOON_FAIL", i ? 2 : 1);
        EXPECT_OK(start(&x));
        for (int d = 1; d < DEVICES; d++)
            EXPECT_OK(copy(domain_of(&x, d), array_of(&x, out, there[d]), domain_of(&x, d - 1),
                           array_of(&x, out, there[d - 1]), 0));
        const mst_status status = copy(&mst_domain_host, array_of(&x, out, got), domain_of(&x, DEVICES - 1),
                                       array_of(&x, out, there[DEVICES - 1]), PATIENCE);
        if (i)
            EXPECT_OK(status);
        else
            EXPECT_ERROR(status, MST_UNAVAILABLE, "lagoon: the program of node 'tried': program failed");
        assert_int_equal(settle(&x, PATIENCE, &node), i ? MST_OK : MST_UNAVAILABLE);
    }
    assert_memory_equal(got, ((float[]){11, 22, 33}), sizeof got);
    for (int d = 1; d < DEVICES; d++) domain_of(&x, d)->type->free(domain_of(&x, d), there[d], sizeof got);
    end(&x);
}

static void runs_of_a_device_are_held_by_a_file(void **state) {
    (void)state;
    one_node x;
    int32_t out, node;
    float got[3] = {5, 5, 5};
    begin_addition(&x, &out);
    EXPECT_OK(compile(&x, addition));
    setenv("MUSTER_LAGOON_HOLD", folder_path("hold"), 1);
    folder_write_text("hold.1", ""); /* of another device */
    run(&x);
    put(&x, x.source[0], right);
    folder_write_text("hold.0", "");
    EXPECT_OK(start(&x));
    for (int i = 0; i < 2; i++) {
        EXPECT_ERROR(settle(&x, i ? MOMENT : -1, &node), MST_DEADLINE, "waited too long for a program");
        assert_int_equal(node, NUMBER);
        EXPECT_ERROR(try_to_get(&x, out, got, i ? MOMENT : -1), MST_DEADLINE, "waited too long for a value");
    }
    assert_memory_equal(got, ((float[]){5, 5, 5}), sizeof got);
    assert_int_equal(unlink(folder_path("hold.0")), 0);
    EXPECT_OK(settle(&x, PATIENCE, &node));
    assert_int_equal(node, -1);
    get(&x, out, got);
    assert_memory_equal(got, ((float[]){20, 40, 60}), sizeof got);
    end(&x);
}

/* The text has a comment, so that no other test has compiled it. */
#define NEW_TEXT(comment) "// " comment "\n" ADDITION

static void run_waits_for_its_text_until_its_deadline(void **state) {
    (void)state;
    one_node x;
    int32_t out;
    float got[3];
    begin_addition(&x, &out);
    setenv("MUSTER_LAGOON_HOLD", folder_path("hold"), 1);
    folder_write_text("hold.text", "");
    EXPECT_OK(compile(&x, NEW_TEXT("held")));
    x.seconds = MOMENT;
    for (int i = 0; i < 2; i++)
        EXPECT_ERROR(start(&x), MST_DEADLINE, "compiling the program of node 'tried' takes too long");
    assert_int_equal(unlink(folder_path("hold.text")), 0);
    x.seconds = PATIENCE;
    run(&x);
    get(&x, out, got);
    assert_memory_equal(got, ((float[]){11, 22, 33}), sizeof got);
    end(&x);
}

/* A second plan with the same text waits for the same compilation. When no plan has the text any more, it is compiled
 * again. */
static void text_that_is_stuck_is_left_and_compiled_anew(void **state) {
    (void)state;
    static const char text[] = NEW_TEXT("stuck");
    one_node x, y;
    int32_t out;
    float got[3];
    begin_addition(&x, &out);
    begin_addition(&y, &out);
    /* the number of texts that were compiled before is not known here: all are held by a file that stays */
    setenv("MUSTER_LAGOON_HOLD", folder_path("hold"), 1);
    folder_write_text("hold.text", "");
    EXPECT_OK(compile(&x, text));
    EXPECT_OK(compile(&y, text));
    setenv("MUSTER_LAGOON_HOLD", folder_path("other"), 1);
    x.seconds = y.seconds = MOMENT;
    EXPECT_ERROR(start(&x), MST_DEADLINE, "takes too long");
    end(&x);
    EXPECT_ERROR(start(&y), MST_DEADLINE, "takes too long");
    forget_program(&y);
    y.seconds = PATIENCE;
    EXPECT_OK(compile(&y, text));
    run(&y);
    get(&y, out, got);
    assert_memory_equal(got, ((float[]){11, 22, 33}), sizeof got);
    assert_int_equal(unlink(folder_path("hold.text")), 0); /* the first errand, which was abandoned, ends */
    end(&y);
}

static void new_texts_are_logged_once(void **state) {
    (void)state;
    static const char once[] =
        PROGRAM("(%a0: tensor<3xf32>, %a1: tensor<3xf32>) -> (tensor<3xf32>)",
                "    %1 = \"stablehlo.subtract\"(%a0, %a1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
                "    \"func.return\"(%1) : (tensor<3xf32>) -> ()\n");
    char wanted[sizeof once + 16], got[2 * sizeof wanted];
    setenv("MUSTER_LAGOON_TEXTS", folder_path("texts"), 1);
    for (int i = 0; i < 2; i++) { /* the second time no plan has the text any more */
        one_node x, y;
        int32_t out;
        float difference[3];
        begin_addition(&x, &out);
        begin_addition(&y, &out);
        EXPECT_OK(compile(&x, once));
        EXPECT_OK(compile(&y, once));
        end(&x);
        run(&y);
        get(&y, out, difference);
        assert_memory_equal(difference, ((float[]){-9, -18, -27}), sizeof difference);
        end(&y);
    }
    FILE *file = fopen(folder_path("texts"), "r");
    assert_non_null(file);
    const size_t length = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    got[length] = '\0';
    snprintf(wanted, sizeof wanted, "%s\n// ----\n", once);
    assert_string_equal(got, wanted);
}

#define TEST_OF_VARIABLES(function) cmocka_unit_test_setup_teardown(function, folder_create, end_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_copied_and_their_memory_is_closed),
        cmocka_unit_test(ops_with_text_are_supported),
        cmocka_unit_test(program_runs_and_leaves_memory_closed),
        cmocka_unit_test(argument_may_be_any_source_any_number_of_times),
        cmocka_unit_test(program_sees_the_arrays_that_were_there_when_it_was_started),
        cmocka_unit_test(values_of_all_dtypes_go_in_and_out),
        cmocka_unit_test(key_and_step_are_those_of_the_run),
        cmocka_unit_test(word_of_faults_names_error_and_node),
        cmocka_unit_test(assignment_behind_the_gate_gives_the_variable_another_array),
        cmocka_unit_test(source_that_is_not_there_is_an_error),
        cmocka_unit_test(program_that_is_not_that_of_its_node_is_refused),
        cmocka_unit_test(node_that_is_no_program_is_refused),
        TEST_OF_VARIABLES(chosen_run_fails),
        TEST_OF_VARIABLES(copies_of_what_could_not_be_made_fail_too),
        TEST_OF_VARIABLES(runs_of_a_device_are_held_by_a_file),
        TEST_OF_VARIABLES(run_waits_for_its_text_until_its_deadline),
        TEST_OF_VARIABLES(text_that_is_stuck_is_left_and_compiled_anew),
        TEST_OF_VARIABLES(new_texts_are_logged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
