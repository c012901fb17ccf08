#include "support/late_arrays.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/named_memory.h"
#include "run/backend.h"

/* A device: its domain, its arrays and its jobs. */
typedef struct lagoon {
    mst_domain domain; /* first: a lagoon is its domain */
    mst_named_memory names;
    late_job *first, **last; /* jobs that have not begun */
    bool has_thread;
    unsigned seed; /* of the delays of its jobs */
    struct lagoon *next;
} lagoon;

static const mst_registrar *host;
static const char *type_name;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* a job was given to a device, or has ended; or an array was read */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static lagoon *lagoons;

#define FAIL(code, ...) host->error_set((code), __FILE__, __LINE__, __VA_ARGS__)
#define NO_MEMORY() FAIL(MST_OUT_OF_MEMORY, "%s: there is no memory", type_name)

/* ---- waiting ---- */

static void make_condition(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits for a change, at most until DEADLINE. False if it has passed. Called under the lock. Waits a tenth of a second
 * at most, because a clock that a test has replaced does not wake this thread. */
static bool wait_until(int64_t deadline) {
    enum { MOST = 100000000, SECOND = 1000000000 };
    const int64_t left = deadline - host->services->clock_now();
    if (left <= 0) return false;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += left < MOST ? left : MOST;
    at.tv_sec += at.tv_nsec / SECOND;
    at.tv_nsec %= SECOND;
    pthread_cond_timedwait(&changed, &lock, &at);
    return true;
}

/* ---- arrays ---- */

late_array *late_array_make(const hlo_array *type) {
    late_array *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->references = 1;
    /* not its data, which a job may be making */
    x->array = (hlo_array){.type = type->type, .ndim = type->ndim, .count = type->count};
    memcpy(x->array.dim, type->dim, sizeof type->dim);
    return x;
}

static void release_locked(late_array *x) {
    if (!x || --x->references) return;
    hlo_array_free(&x->array);
    free(x);
}

void late_array_release(late_array *x) {
    pthread_mutex_lock(&lock);
    release_locked(x);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

late_array *late_array_at(mst_domain *domain, const void *data) {
    pthread_mutex_lock(&lock);
    late_array *out = mst_named_memory_at(&((lagoon *)domain)->names, data);
    if (out) out->references++;
    pthread_mutex_unlock(&lock);
    return out;
}

late_array *late_array_take(mst_domain *domain, const void *data) {
    mst_named_memory *names = &((lagoon *)domain)->names;
    pthread_mutex_lock(&lock);
    late_array *out = mst_named_memory_at(names, data);
    if (out && out->names == 1) /* the reference of the name becomes the caller's */
        out = mst_named_memory_take(names, data);
    else
        out = NULL;
    if (out) out->names = 0;
    pthread_mutex_unlock(&lock);
    return out;
}

mst_status late_array_put(mst_domain *domain, void *data, size_t bytes, late_array *array) {
    pthread_mutex_lock(&lock);
    array->references++;
    array->names++;
    const bool done = mst_named_memory_put(&((lagoon *)domain)->names, data, bytes, array);
    if (!done) {
        array->names--;
        array->references--;
    }
    pthread_mutex_unlock(&lock);
    return done ? MST_OK : NO_MEMORY();
}

/* ---- jobs ---- */

static void free_job(late_job *job) {
    for (int i = 0; i < job->num_args; i++) release_locked(job->arg[i]);
    for (int i = 0; i < job->num_results; i++) release_locked(job->result[i]);
    free(job->arg);
    free(job->result);
    free(job->takes);
    job->free(job);
}

/* Waits for the arguments of JOB. If one could not be made, its message is that of the job. Called under the lock. */
static void await_arguments(const late_job *job, late_error *error) {
    for (int i = 0; i < job->num_args && !error->status; i++) {
        while (!job->arg[i]->is_there) wait_until(INT64_MAX);
        *error = job->arg[i]->error;
    }
}

/* Waits for those who read what is donated to JOB: copies that were started before it. Called under the lock. */
static void await_readers(const late_job *job) {
    for (int i = 0; i < job->num_args && job->takes; i++)
        while (job->takes[i] && job->arg[i]->references > 1) wait_until(INT64_MAX);
}

static void join_group(late_group *group, late_job *job) {
    late_job **at = &group->first;
    while (*at) at = &(*at)->next_of_group;
    job->next_of_group = NULL;
    *at = job;
}

static void leave_group(late_group *group, const late_job *job) {
    late_job **at = &group->first;
    while (*at != job) at = &(*at)->next_of_group;
    *at = job->next_of_group;
}

static void end_job(late_job *job, const late_error *error) {
    for (int i = 0; i < job->num_results; i++) {
        job->result[i]->is_there = true;
        job->result[i]->error = *error;
    }
    late_group *group = job->group;
    if (group && !group->error.status) group->error = *error;
    if (group) leave_group(group, job);
    free_job(job);
    pthread_cond_broadcast(&changed);
}

/* A job begins late, by up to a tenth of a millisecond. */
static void delay(lagoon *x) {
    enum { MOST_NS = 100000 };
    const struct timespec time = {.tv_nsec = rand_r(&x->seed) % MOST_NS};
    nanosleep(&time, NULL);
}

static void *work(void *context) {
    lagoon *x = context;
    host->unbind_thread();
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!x->first) pthread_cond_wait(&changed, &lock);
        late_job *job = x->first;
        x->first = job->next;
        if (!x->first) x->last = &x->first;
        late_error error = {.node = -1};
        await_arguments(job, &error);
        await_readers(job);
        if (!error.status) {
            pthread_mutex_unlock(&lock);
            delay(x);
            job->run(job, &error);
            pthread_mutex_lock(&lock);
        }
        end_job(job, &error);
    }
    return NULL;
}

/* The thread handles no signals: those are the program's. */
static mst_status start_thread(lagoon *x) {
    pthread_t thread;
    sigset_t all, before;
    if (x->has_thread) return MST_OK;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, NULL, work, x);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) return FAIL(MST_OUT_OF_MEMORY, "%s: cannot start a thread", type_name);
    pthread_detach(thread);
    x->has_thread = true;
    return MST_OK;
}

mst_status late_start(mst_domain *domain, late_job *job) {
    lagoon *x = (lagoon *)domain;
    job->next = NULL;
    pthread_mutex_lock(&lock);
    const mst_status status = start_thread(x);
    if (status) {
        free_job(job);
    } else {
        if (job->group) join_group(job->group, job);
        *x->last = job;
        x->last = &job->next;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

mst_status late_wait(late_group *group, int64_t deadline, late_error *out) {
    pthread_mutex_lock(&lock);
    bool in_time = true;
    while (group->first && in_time) in_time = wait_until(deadline);
    *out = group->error;
    if (group->first) out->node = group->first->node;
    pthread_mutex_unlock(&lock);
    if (in_time) return MST_OK;
    return FAIL(MST_DEADLINE, "waited too long for a program: it is stuck, or the timeout is too short");
}

void late_while_file(const char *path) {
    const struct timespec moment = {.tv_nsec = 1000000};
    while (!path || access(path, F_OK) == 0) nanosleep(&moment, NULL);
}

/* ---- types ---- */

bool late_type(mst_dtype dtype, hlo_type *out) {
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

bool late_type_of(const mst_spec *spec, hlo_array *out) {
    *out = (hlo_array){.ndim = spec->shape.ndim, .count = 1};
    for (int i = 0; i < spec->shape.ndim; i++) {
        out->dim[i] = spec->shape.dim[i];
        out->count *= out->dim[i];
    }
    return late_type(spec->dtype, &out->type);
}

/* ---- copies ---- */

static size_t bytes_of(const hlo_array *x) {
    return (size_t)x->count * hlo_type_size(x->type);
}

static mst_status find_type(const mst_array *array, hlo_array *out) {
    const mst_spec spec = {.dtype = array->dtype, .shape = array->shape};
    if (late_type_of(&spec, out) && out->count == array->count) return MST_OK;
    return FAIL(MST_INTERNAL, "%s: an array of %lld elements is no whole array of its shape", type_name,
                (long long)array->count);
}

/* Copies from the host's memory, which may change then. */
static mst_status copy_in(mst_domain *to, const mst_array *dst, const mst_array *src) {
    hlo_array type;
    MST_TRY(find_type(dst, &type));
    if (src->count != dst->count) return FAIL(MST_INTERNAL, "%s: a copy of a part of an array", type_name);
    late_array *x = late_array_make(&type);
    if (x) x->array.data = malloc(bytes_of(&type) + 1);
    if (!x || !x->array.data) {
        late_array_release(x);
        return NO_MEMORY();
    }
    if (bytes_of(&type)) memcpy(x->array.data, src->data, bytes_of(&type));
    x->is_there = true;
    const mst_status status = late_array_put(to, dst->data, bytes_of(&type), x);
    late_array_release(x);
    return status;
}

static mst_status find_source(mst_domain *from, const mst_array *src, late_array **out) {
    hlo_array type;
    MST_TRY(find_type(src, &type));
    *out = late_array_at(from, src->data);
    if (!*out) return FAIL(MST_INTERNAL, "%s: there is no array at the address of a copy", type_name);
    if ((*out)->array.count == type.count && (*out)->array.type == type.type) return MST_OK;
    late_array_release(*out);
    return FAIL(MST_INTERNAL, "%s: a copy of a part of an array", type_name);
}

static mst_status copy_out(const mst_array *dst, late_array *x, int64_t deadline) {
    pthread_mutex_lock(&lock);
    bool in_time = true;
    while (!x->is_there && in_time) in_time = wait_until(deadline);
    const late_error error = x->error;
    pthread_mutex_unlock(&lock);
    if (!in_time) return FAIL(MST_DEADLINE, "waited too long for a value: it is stuck, or the timeout is too short");
    if (error.status) return FAIL(error.status, "%s", error.message);
    if (bytes_of(&x->array)) memcpy(dst->data, x->array.data, bytes_of(&x->array));
    return MST_OK;
}

static void copy_job(late_job *job, late_error *error) {
    hlo_array *to = &job->result[0]->array;
    to->data = malloc(bytes_of(to) + 1);
    if (!to->data)
        *error = (late_error){.status = MST_OUT_OF_MEMORY, .node = -1, .message = "there is no memory for a copy"};
    else if (bytes_of(to))
        memcpy(to->data, job->arg[0]->array.data, bytes_of(to));
}

static void free_copy(late_job *job) {
    free(job);
}

/* From one device to another: the array there is on its way. X is a reference that this takes. */
static mst_status copy_between(mst_domain *to, const mst_array *dst, late_array *x) {
    late_job *job = calloc(1, sizeof *job);
    late_array **arg = malloc(sizeof *arg), **result = malloc(sizeof *result);
    late_array *there = late_array_make(&x->array);
    if (!job || !arg || !result || !there) {
        free(job);
        free(arg);
        free(result);
        late_array_release(there);
        late_array_release(x);
        return NO_MEMORY();
    }
    *arg = x;
    *result = there;
    *job = (late_job){
        .run = copy_job, .free = free_copy, .node = -1, .num_args = 1, .num_results = 1, .arg = arg, .result = result};
    const mst_status status = late_array_put(to, dst->data, bytes_of(&there->array), there);
    if (!status) return late_start(to, job);
    pthread_mutex_lock(&lock);
    free_job(job);
    pthread_mutex_unlock(&lock);
    return status;
}

static mst_status copy_array(mst_domain *to, const mst_array *dst, mst_domain *from, const mst_array *src,
                             int64_t deadline) {
    late_array *x;
    if (from->type->host) return copy_in(to, dst, src);
    MST_TRY(find_source(from, src, &x));
    if (!to->type->host) return copy_between(to, dst, x);
    const mst_status status = copy_out(dst, x, deadline);
    late_array_release(x);
    return status;
}

/* ---- domains ---- */

static void release_value(void *value) {
    late_array *x = value;
    x->names--;
    release_locked(x);
}

static mst_status reserve(mst_domain *domain, size_t bytes, void **out) {
    (void)domain;
    if (mst_named_memory_reserve(bytes, out)) return MST_OK;
    return FAIL(MST_OUT_OF_MEMORY, "%s: cannot get %zu bytes of memory", type_name, bytes);
}

static void give_back(mst_domain *domain, void *data, size_t bytes) {
    pthread_mutex_lock(&lock);
    mst_named_memory_free(&((lagoon *)domain)->names, data, bytes);
    pthread_mutex_unlock(&lock);
}

static mst_domain_type domain_type = {
    .size = sizeof(mst_domain_type), .alloc = reserve, .free = give_back, .copy_array = copy_array};

void late_arrays_begin(const char *name, const mst_registrar *registrar) {
    host = registrar;
    type_name = domain_type.name = name;
    pthread_once(&once, make_condition);
}

mst_status late_arrays_domain(int index, mst_domain **out) {
    pthread_mutex_lock(&lock);
    lagoon *x = lagoons;
    while (x && x->domain.index != index) x = x->next;
    if (!x && (x = calloc(1, sizeof *x))) {
        x->domain = (mst_domain){.type = &domain_type, .index = index};
        x->names.release = release_value;
        x->last = &x->first;
        x->seed = (unsigned)index + 1;
        x->next = lagoons;
        lagoons = x;
    }
    pthread_mutex_unlock(&lock);
    *out = x ? &x->domain : NULL;
    return x ? MST_OK : NO_MEMORY();
}
