/* After its second run, a step allocates no memory. The functions of malloc are replaced by ones that count. Calls
 * from inside oneDNN, OpenMP and the C++ library that oneDNN uses are not counted, since Muster cannot change them. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "support/sanitized.h"
#include "support/test.h"
#include "support/training.h"

#if !SANITIZED && defined(__GLIBC__)

static atomic_bool counting;
static atomic_int allocations;
static const char *_Atomic first_caller;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void note(const void *caller) {
    static const char *const foreign[] = {"libdnnl", "libgomp", "libomp", "libstdc++", "libc++"};
    Dl_info info;
    if (!atomic_load(&counting)) return;
    bool known = dladdr(caller, &info) && info.dli_fname;
    for (size_t i = 0; known && i < sizeof foreign / sizeof *foreign; i++)
        if (strstr(info.dli_fname, foreign[i])) return;
    atomic_fetch_add(&allocations, 1);
    const char *nobody = NULL;
    atomic_compare_exchange_strong(&first_caller, &nobody,
                                   known && info.dli_sname ? info.dli_sname
                                   : known                 ? info.dli_fname
                                                           : "unknown");
}

void *malloc(size_t size) {
    note(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *data, size_t size) {
    note(__builtin_return_address(0));
    return __libc_realloc(data, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    note(__builtin_return_address(0));
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

enum { ROWS = 330, BATCH = 16, FEATURES = 20, CLASSES = 5, LAST = 18 };

/* Counts from the end of step 2 to the end of step LAST. The batches of these steps are whole, and so is the next,
 * which may be taken ahead. */
static mst_status step_end(void *context, mst_train_state *state) {
    int64_t *steps = context;
    if (state->step == 2) atomic_store(&counting, true);
    if (state->step == LAST) atomic_store(&counting, false);
    ++*steps;
    return MST_OK;
}

static void expect_no_allocations(const char *devices, mst_strategy_kind kind, mst_optimizer optimizer) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = training_model(32, CLASSES, 1e-3f);
    EXPECT_OK(mst_compile(model, .optimizer = optimizer, .metric = {MST_METRIC_ACCURACY}, .strategy = {.kind = kind},
                          .session = {.devices = devices}));
    int64_t steps = 0;
    mst_callback callback = {.context = &steps, .step_end = step_end};
    atomic_store(&allocations, 0);
    atomic_store(&first_caller, NULL);
    EXPECT_OK(
        mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 1, .callbacks = &callback, .num_callbacks = 1));
    assert_int_equal(steps, (ROWS + BATCH - 1) / BATCH);
    if (atomic_load(&allocations))
        fail_msg("%s: %d allocations, the first in %s", devices, atomic_load(&allocations), atomic_load(&first_caller));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void step_after_the_second_allocates_nothing_on_one_device(void **state) {
    (void)state;
    expect_no_allocations("cpu:1/1", MST_STRATEGY_ONE, mst_sgd(.learning_rate = 0.1));
}

static void step_after_the_second_allocates_nothing_mirrored_over_two_devices(void **state) {
    (void)state;
    expect_no_allocations("cpu:2/1", MST_STRATEGY_MIRRORED, mst_sgd(.learning_rate = 0.1, .ema_decay = 0.99));
    expect_no_allocations("cpu:2/1", MST_STRATEGY_MIRRORED, mst_adam(.clip_global_norm = 1));
    expect_no_allocations("cpu:2/1", MST_STRATEGY_MIRRORED, mst_adam(.gradient_accumulation_steps = 3));
}

static void step_after_the_second_allocates_nothing_on_towers(void **state) {
    (void)state;
    expect_no_allocations("cpu:2/1", MST_STRATEGY_TOWERS,
                          mst_sgd(.schedule = mst_exponential_decay(.rate = 0.1, .decay_rate = 0.9, .decay_steps = 5)));
}

static void counting_sees_allocations(void **state) {
    (void)state;
    atomic_store(&allocations, 0);
    atomic_store(&counting, true);
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(10), NULL);
    atomic_store(&counting, false);
    assert_true(atomic_load(&allocations) > 0);
    mst_tensor_release(tensor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_sees_allocations),
        cmocka_unit_test(step_after_the_second_allocates_nothing_on_one_device),
        cmocka_unit_test(step_after_the_second_allocates_nothing_mirrored_over_two_devices),
        cmocka_unit_test(step_after_the_second_allocates_nothing_on_towers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else /* a sanitizer has a malloc of its own */

static void counting_needs_the_malloc_of_glibc(void **state) {
    (void)state;
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counting_needs_the_malloc_of_glibc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
