#include "run/executor.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/denormal.h"
#include "base/event.h"
#include "base/team.h"

enum { MESSAGE_SIZE = 1024, NAME_SIZE = 256, CACHE_LINE = 64 };

/* An error on its way from a device's thread to the caller's. */
typedef struct failure {
    mst_status status;
    char message[MESSAGE_SIZE];
    char node[NAME_SIZE];
    const char *file;
    int line;
} failure;

typedef struct worker {
    _Alignas(CACHE_LINE) atomic_uint_fast64_t done; /* number of the last step it finished */
    mst_executor *executor;
    int device;
    pthread_t thread;
    bool started;
    mst_team *team; /* threads of the device, where it has more than one */
    failure failure;
} worker;

struct mst_executor {
    const mst_devices *devices;
    bool check_numerics, pin;
    mst_bed bed;
    _Alignas(CACHE_LINE) atomic_uint_fast64_t go; /* number of the step to do; UINT64_MAX: end */
    uint64_t number;
    const mst_plan *plan;
    mst_rendezvous *rendezvous;
    mst_step step;
    worker *workers;  /* one a device; that of device 0 has no thread */
    pthread_t caller; /* who made it, */
    void *binding;    /* and what that was bound to before */
};

bool mst_executor_spins(const mst_devices *devices) {
    int threads = 0;
    for (int i = 0; i < devices->count; i++) threads += devices->device[i].num_threads;
    return threads <= mst_num_cores();
}

/* ---- numerics ---- */

static bool all_finite_f32(const float *x, int64_t count) {
    float sum = 0; /* x - x is 0 for numbers, NaN for NaN and Inf */
    for (int64_t i = 0; i < count; i++) sum += x[i] - x[i];
    return sum == 0;
}

static bool all_finite_f64(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += x[i] - x[i];
    return sum == 0;
}

static bool all_finite(const mst_array *array) {
    if (array->dtype == MST_F32) return all_finite_f32(array->data, array->count);
    if (array->dtype == MST_F64) return all_finite_f64(array->data, array->count);
    return true;
}

/* What a node put out and, of a writer, the variables it wrote. Writers of parts are left out: other devices may still
 * be writing theirs, and what they made is found by its first reader. */
static mst_status check_numerics(const mst_kernel_args *a) {
    for (int i = 0; i < a->num_dst + a->num_src; i++) {
        bool is_dst = i < a->num_dst;
        bool alone = a->op->writes && !a->op->write_key;
        if (!is_dst && !(alone && a->op->writes(a->options, a->num_src, i - a->num_dst))) continue;
        const mst_array *array = is_dst ? &a->dst[i] : &a->src[i - a->num_dst];
        if (!array->data || all_finite(array)) continue;
        char shape[MST_SHAPE_TEXT];
        MST_FAIL(MST_NUMERICS, "%s '%s' made a NaN or Inf in %s%s, the first in step %lld", a->op->name, a->name,
                 mst_dtype_name(array->dtype), mst_shape_print(array->shape, shape, sizeof shape),
                 (long long)a->step->number);
        return mst_error_at(a->name, NULL);
    }
    return MST_OK;
}

/* ---- walking ---- */

static mst_status walk(mst_executor *e, int device, mst_team *team) {
    const mst_program *program = &e->plan->program[device];
    mst_status status = MST_OK;
    for (int64_t i = 0; i < program->num_items && !status; i++) {
        mst_call_item *item = &program->item[i];
        item->args.step = &e->step;
        item->args.team = team;
        status = item->run(&item->args);
        if (e->check_numerics && !status) status = check_numerics(&item->args);
    }
    return status;
}

static void keep_failure(worker *w, mst_status status) {
    const mst_error_info *error = mst_error();
    w->failure.status = status;
    snprintf(w->failure.message, sizeof w->failure.message, "%s", error->message);
    snprintf(w->failure.node, sizeof w->failure.node, "%s", error->node);
    w->failure.file = error->file;
    w->failure.line = error->line;
    if (w->executor->rendezvous) w->executor->rendezvous->type->abort(w->executor->rendezvous);
}

static void step_on(worker *w) {
    w->failure.status = MST_OK;
    mst_status status = walk(w->executor, w->device, w->team);
    if (status) keep_failure(w, status);
}

static void *work(void *context) {
    worker *w = context;
    mst_executor *e = w->executor;
    const mst_device *device = &e->devices->device[w->device];
    omp_set_num_threads(1); /* what oneDNN does is shared out by mst_parallel */
    mst_flush_denormals();
    if (e->pin && mst_bind_thread(device->first_core, device->num_threads)) {
        /* a wish, not a condition: the step runs as well unbound */
    }
    for (uint64_t number = 1;; number++) {
        mst_event_wait(&e->bed, &e->go, number, NULL, 0);
        if (atomic_load(&e->go) == UINT64_MAX) return NULL;
        step_on(w);
        mst_event_set(&e->bed, &w->done, number);
    }
}

/* ---- the threads ---- */

static void begin_member(void *context, int member) {
    const worker *w = context;
    (void)member;
    omp_set_num_threads(1);
    const mst_device *device = &w->executor->devices->device[w->device];
    if (w->executor->pin && mst_bind_thread(device->first_core, device->num_threads)) {
        /* a wish, not a condition */
    }
}

mst_status mst_executor_create(const mst_devices *devices, const mst_session_options *options, mst_executor **out) {
    *out = NULL;
    mst_executor *e = aligned_alloc(CACHE_LINE, (sizeof *e + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    worker *workers = aligned_alloc(CACHE_LINE, (size_t)devices->count * sizeof *workers);
    if (!e || !workers) {
        free(e);
        free(workers);
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for an executor");
    }
    memset(e, 0, sizeof *e);
    memset(workers, 0, (size_t)devices->count * sizeof *workers);
    e->devices = devices;
    e->check_numerics = options->check_numerics;
    e->pin = options->pin_threads;
    e->workers = workers;
    atomic_init(&e->go, 0);
    mst_bed_init(&e->bed, mst_executor_spins(devices));
    mst_status status = MST_OK;
    for (int i = 0; i < devices->count && !status; i++) {
        worker *w = &workers[i];
        atomic_init(&w->done, 0);
        w->executor = e;
        w->device = i;
        if (devices->device[i].num_threads > 1)
            status =
                mst_team_create(devices->device[i].num_threads, mst_executor_spins(devices), begin_member, w, &w->team);
        if (i == 0 || status) continue;
        w->started = pthread_create(&w->thread, NULL, work, w) == 0;
        if (!w->started) status = MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for %s", devices->device[i].text);
    }
    if (!status && e->pin) {
        e->caller = pthread_self();
        e->binding = mst_save_binding();
        status = mst_bind_thread(devices->device[0].first_core, devices->device[0].num_threads);
    }
    if (status)
        mst_executor_destroy(e);
    else
        *out = e;
    return status;
}

void mst_executor_destroy(mst_executor *e) {
    if (!e) return;
    mst_event_set(&e->bed, &e->go, UINT64_MAX);
    for (int i = 1; i < e->devices->count; i++)
        if (e->workers[i].started) pthread_join(e->workers[i].thread, NULL);
    for (int i = 0; i < e->devices->count; i++) mst_team_destroy(e->workers[i].team);
    mst_bed_destroy(&e->bed);
    if (e->binding) mst_restore_binding(e->binding, pthread_equal(pthread_self(), e->caller) != 0);
    free(e->workers);
    free(e);
}

/* The error that began it: one that is not only "another device failed". */
static mst_status report(const mst_executor *e) {
    const worker *first = NULL;
    for (int i = 0; i < e->devices->count; i++) {
        const worker *w = &e->workers[i];
        if (!w->failure.status) continue;
        if (!first || (first->failure.status == MST_CANCELLED && w->failure.status != MST_CANCELLED)) first = w;
    }
    if (!first) return MST_OK;
    const failure *f = &first->failure;
    mst_error_set(f->status, f->file, f->line, "%s", f->message);
    return mst_error_at(f->node, e->devices->device[first->device].text);
}

mst_status mst_executor_run(mst_executor *e, const mst_plan *plan, mst_rendezvous *rendezvous, const mst_step *step) {
    e->plan = plan;
    e->rendezvous = rendezvous;
    e->step = *step;
    e->number++;
    if (rendezvous) rendezvous->type->begin(rendezvous, e->number);
    const int before = omp_get_max_threads();
    if (before != 1) omp_set_num_threads(1);
    uint64_t mode = mst_flush_denormals();
    if (e->devices->count > 1) mst_event_set(&e->bed, &e->go, e->number);
    step_on(&e->workers[0]);
    for (int i = 1; i < e->devices->count; i++) mst_event_wait(&e->bed, &e->workers[i].done, e->number, NULL, 0);
    mst_float_mode_set(mode);
    if (before != 1) omp_set_num_threads(before);
    return report(e);
}
