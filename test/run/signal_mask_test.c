/* While a thread of the program computes a step, it handles no signals. After the step it has its own mask again,
 * and handles the signals that came meanwhile. Threads of the library never handle any. So no handler runs inside a
 * kernel of oneDNN, where it would corrupt the heap (base/signal_mask.h). The test checks every call of oneDNN. */
#include <dirent.h>
#include <dnnl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/signal_mask.h"
#include "base/thread.h"
#include "support/test.h"
#include "support/training.h"

static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

static bool is_fault(int number) {
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++)
        if (FAULTS[i] == number) return true;
    return false;
}

/* The signals that no thread can block: two are the kernel's, and two the C library's own. */
static bool cannot_be_blocked(int number) {
    return number == SIGKILL || number == SIGSTOP || (number >= 32 && number < SIGRTMIN);
}

/* Whether the calling thread handles signals of faults alone. */
static bool is_blocked(void) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i <= SIGRTMAX; i++)
        if (!cannot_be_blocked(i) && sigismember(&mask, i) != !is_fault(i)) return false;
    return true;
}

/* The mask that the thread of each test has: one signal is blocked already, as a program may have it. */
static void set_own_mask(void) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static bool has_own_mask(void) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i <= SIGRTMAX; i++)
        if (!cannot_be_blocked(i) && sigismember(&mask, i) != (i == SIGUSR2)) return false;
    return true;
}

/* ---- every call of oneDNN ---- */

static _Atomic int num_calls, num_unsafe;

static void look_at_call(void) {
    atomic_fetch_add(&num_calls, 1);
    if (!is_blocked()) atomic_fetch_add(&num_unsafe, 1);
}

dnnl_status_t __real_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int nargs,
                                            const dnnl_exec_arg_t *args);
dnnl_status_t __wrap_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int nargs,
                                            const dnnl_exec_arg_t *args);
dnnl_status_t __real_dnnl_sgemm(char ta, char tb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha, const float *a,
                                dnnl_dim_t lda, const float *b, dnnl_dim_t ldb, float beta, float *c, dnnl_dim_t ldc);
dnnl_status_t __wrap_dnnl_sgemm(char ta, char tb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha, const float *a,
                                dnnl_dim_t lda, const float *b, dnnl_dim_t ldb, float beta, float *c, dnnl_dim_t ldc);

dnnl_status_t __wrap_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int nargs,
                                            const dnnl_exec_arg_t *args) {
    look_at_call();
    return __real_dnnl_primitive_execute(primitive, stream, nargs, args);
}

dnnl_status_t __wrap_dnnl_sgemm(char ta, char tb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha, const float *a,
                                dnnl_dim_t lda, const float *b, dnnl_dim_t ldb, float beta, float *c, dnnl_dim_t ldc) {
    look_at_call();
    return __real_dnnl_sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* ---- ops of the user ---- */

static _Atomic int num_handled;
static atomic_bool is_open;

static void note(int number) {
    (void)number;
    atomic_fetch_add(&num_handled, 1);
    atomic_store(&is_open, true);
}

static mst_status like_source(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static bool was_blocked, op_fails;
static pthread_t op_thread;

/* Sends a signal to its own thread. */
static mst_status send_signal(const mst_kernel_args *a) {
    was_blocked = is_blocked();
    op_thread = pthread_self();
    pthread_kill(op_thread, SIGUSR1);
    was_blocked &= atomic_load(&num_handled) == 0;
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * sizeof(float));
    return op_fails ? MST_FAIL(MST_IO, "as it was told") : MST_OK;
}

static mst_status wait_until_open(const mst_kernel_args *a) {
    const struct timespec pause = {.tv_nsec = 1000000};
    while (!atomic_load(&is_open)) nanosleep(&pause, NULL);
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * sizeof(float));
    return MST_OK;
}

#define OP(op_name, function)                                                                        \
    {                                                                                                \
        .name = op_name, .num_src = 1, .num_dst = 1, .dtypes = MST_FLOATS, .flags = MST_OP_STATEFUL, \
        .infer = like_source, .reference = (function)                                                \
    }
static const mst_op sender = OP("sender", send_signal), gate = OP("gate", wait_until_open);

static mst_session *session_of(mst_graph *g, const char *devices) {
    mst_session *session;
    const mst_session_options options = {.devices = devices};
    EXPECT_OK(mst_session_create(g, &options, &session));
    return session;
}

static void catch_signals(void) {
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGUSR1, &action, NULL);
    atomic_store(&num_handled, 0);
    atomic_store(&is_open, false);
    set_own_mask();
}

/* ---- what must hold ---- */

static void handler_waits_until_the_step_is_over(void **state) {
    (void)state;
    const char *devices[] = {"cpu:1/1", "cpu:1/2", "cpu:2/1"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int fails = 0; fails < 2; fails++) {
            mst_graph *g = engine_graph();
            mst_value x = mst_fill(g, MST_F32, MST_SHAPE(3), 1), y = MST_NONE;
            engine_with_kernels (g, "/cpu:0") y = mst_call(g, &sender, 1, &x, NULL);
            mst_session *session = session_of(g, devices[d]);
            catch_signals();
            op_fails = fails;
            const mst_status status = mst_session_run(session, NULL, 0, &y, 1, NULL);
            assert_int_equal(status, fails ? MST_IO : MST_OK);
            assert_true(was_blocked);
            if (pthread_equal(op_thread, pthread_self())) assert_int_equal(atomic_load(&num_handled), 1);
            assert_true(has_own_mask());
            engine_end(g, session);
        }
}

static void *send_later(void *context) {
    const struct timespec pause = {.tv_nsec = 300000000};
    nanosleep(&pause, NULL);
    pthread_kill(*(pthread_t *)context, SIGUSR1);
    return NULL;
}

/* Else a step that waits for another task would hold Ctrl-C back for minutes. */
static void handler_runs_while_the_step_waits_for_another_device(void **state) {
    (void)state;
    if (getenv("MUSTER_TEST_ALONE")) skip(); /* one thread waits for no other */
    mst_graph *g = engine_graph();
    mst_value x = mst_fill(g, MST_F32, MST_SHAPE(3), 1), y = MST_NONE, z = MST_NONE;
    engine_with_kernels (g, "/cpu:1") y = mst_call(g, &gate, 1, &x, NULL);
    engine_with_kernels (g, "/cpu:0") z = mst_call(g, &sender, 1, &y, NULL);
    mst_session *session = session_of(g, "cpu:2/1");
    pthread_t thread, self = pthread_self();
    catch_signals();
    op_fails = false;
    assert_int_equal(mst_thread_start(&thread, send_later, &self), 0);
    EXPECT_OK(mst_session_run(session, NULL, 0, &z, 1, NULL)); /* the handler opens the gate */
    pthread_join(thread, NULL);
    assert_true(has_own_mask());
    engine_end(g, session);
}

/* The mask is that of the thread before the first block, and comes back with the last unblock. */
static void blocks_are_counted(void **state) {
    (void)state;
    catch_signals();
    mst_signals_block();
    mst_signals_block();
    assert_true(is_blocked());
    mst_signals_unblock();
    assert_true(is_blocked());
    pthread_kill(pthread_self(), SIGUSR1);
    assert_int_equal(atomic_load(&num_handled), 0);
    mst_signals_let_in();
    assert_int_equal(atomic_load(&num_handled), 1);
    assert_true(is_blocked());
    mst_signals_unblock();
    assert_true(has_own_mask());
}

/* ---- training ---- */

typedef struct watch {
    int calls, wrong, threads, unsafe;
    int64_t fail_at;
} watch;

/* The other threads of the process, and those of them that handle signals. */
static void look_at_threads(watch *w) {
    DIR *folder = opendir("/proc/self/task");
    const long self = syscall(SYS_gettid);
    assert_non_null(folder);
    w->threads = w->unsafe = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], line[256];
        unsigned long long blocked = 0, wanted = 0;
        if (atol(entry->d_name) <= 0 || atol(entry->d_name) == self) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue; /* it has ended */
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "SigBlk: %llx", &blocked) == 1) break;
        fclose(file);
        for (int i = 1; i <= SIGRTMAX; i++)
            if (!cannot_be_blocked(i) && !is_fault(i)) wanted |= 1ULL << (i - 1);
        w->threads++;
        if ((blocked & wanted) != wanted) w->unsafe++; /* one that only begins has more */
    }
    closedir(folder);
}

static mst_status watch_step(void *context, mst_train_state *state) {
    watch *w = context;
    w->calls++;
    w->wrong += !has_own_mask();
    if (w->calls == 1) look_at_threads(w);
    return w->fail_at && state->step == w->fail_at ? MST_FAIL(MST_CANCELLED, "enough") : MST_OK;
}

/* Dense layers and convolutions of both kinds of numbers, in mirrored training. */
static mst_model *model_of(const char *devices, bool bf16) {
    mst_model *m;
    EXPECT_OK(mst_model_create(&m));
    mst_reshape_to(m, MST_SHAPE(16, 16, 1));
    mst_conv2d(m, 8, 3, .activation = MST_RELU);
    mst_depthwise_conv2d(m, 3);
    mst_flatten(m);
    mst_dense(m, 64, .activation = MST_RELU);
    mst_dense(m, 3);
    EXPECT_OK(mst_compile(m, .optimizer = mst_adam(.learning_rate = 0.01), .session = {.devices = devices},
                          .precision = bf16 ? MST_MIXED_BFLOAT16 : MST_FLOAT32, .seed = 1));
    return m;
}

static void training_hands_the_mask_to_callbacks_and_no_thread_handles_signals(void **state) {
    (void)state;
    enum { ROWS = 64, BATCH = 16 };
    const char *devices[] = {"cpu:1/1", "cpu:1/2", "cpu:2/1"};
    catch_signals();
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int64_t fail_at = 0; fail_at < 4; fail_at += 3) {
            mst_dataset *data = training_data(ROWS, 256, 3, 1);
            mst_dataset *prefetched = mst_data_prefetch(mst_data_batch(mst_dataset_retain(data), BATCH, true), 2);
            mst_model *m = model_of(devices[d], d == 2);
            watch w = {.fail_at = fail_at};
            const mst_callback callback = {.context = &w,
                                           .train_begin = watch_step,
                                           .epoch_begin = watch_step,
                                           .step_end = watch_step,
                                           .epoch_end = watch_step,
                                           .train_end = watch_step};
            const mst_fit_options options = {
                .data = prefetched, .epochs = 2, .callbacks = &callback, .num_callbacks = 1};
            mst_result result;
            const mst_status status = mst_fit_with(m, &options, &result);
            if (status != (fail_at ? MST_CANCELLED : MST_OK)) fail_msg("%s", mst_error()->message);
            assert_true(w.calls > 3);
            assert_int_equal(w.wrong, 0);
            assert_int_equal(w.unsafe, 0);
            assert_true(w.threads >= (d > 0));
            assert_true(has_own_mask());
            if (!fail_at) EXPECT_OK(mst_evaluate(m, data, BATCH, &result, NULL));
            assert_true(has_own_mask());
            mst_model_destroy(m);
            mst_dataset_release(prefetched);
            mst_dataset_release(data);
        }
    assert_true(atomic_load(&num_calls) > 100 || engine_compiles());
    assert_int_equal(atomic_load(&num_unsafe), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted),
        cmocka_unit_test(handler_waits_until_the_step_is_over),
        cmocka_unit_test(handler_runs_while_the_step_waits_for_another_device),
        cmocka_unit_test(training_hands_the_mask_to_callbacks_and_no_thread_handles_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
