#include "cluster/cluster_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "cluster/address.h"
#include "graph/device_name.h"

enum { MOST_NAMES = 64 /* most jobs that an error message offers */ };

/* ---- jobs, in the order of their tasks' numbers ---- */

typedef enum job_rank { RANK_CHIEF, RANK_WORKER, RANK_PS, RANK_OTHER, RANK_EVALUATOR } job_rank;

static job_rank rank_of(const char *job) {
    if (strcmp(job, "chief") == 0 || strcmp(job, "master") == 0) return RANK_CHIEF;
    if (strcmp(job, "worker") == 0) return RANK_WORKER;
    if (strcmp(job, "ps") == 0) return RANK_PS;
    return strcmp(job, "evaluator") == 0 ? RANK_EVALUATOR : RANK_OTHER;
}

static int compare_tasks(const void *first, const void *second) {
    const mst_task_info *a = first, *b = second;
    const int by_rank = (int)rank_of(a->job) - (int)rank_of(b->job), by_name = strcmp(a->job, b->job);
    if (by_rank) return by_rank;
    return by_name ? by_name : (a->index > b->index) - (a->index < b->index);
}

static int count_rank(const mst_cluster *cluster, job_rank rank) {
    int count = 0;
    for (int64_t i = 0; i < cluster->num_tasks; i++) count += rank_of(cluster->task[i].job) == rank;
    return count;
}

/* ---- making ---- */

mst_status mst_cluster_begin(mst_cluster **out) {
    mst_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster) return MST_NO_MEMORY("for a cluster");
    atomic_init(&cluster->references, 1);
    *out = cluster;
    return MST_OK;
}

static mst_status check_task(const char *job, int64_t index) {
    mst_device_name name;
    return mst_device_name_of_task(job, index, &name);
}

/* Converts the address to the one form in which addresses are stored. */
static mst_status read_address(mst_cluster *cluster, const char *address, const char **out) {
    char text[MST_ADDRESS_TEXT];
    mst_address parsed;
    MST_TRY(mst_address_parse(address, &parsed));
    if (parsed.port == 0 && !cluster->allow_any_port)
        return MST_FAIL(MST_INVALID, "'%.80s': the port must be a number from 1 to 65535, as in worker0:2222", address);
    *out = mst_arena_string(&cluster->arena, mst_address_print(&parsed, text));
    return *out ? MST_OK : MST_NO_MEMORY("for a cluster");
}

mst_status mst_cluster_add(mst_cluster *cluster, const char *job, int64_t index, const char *address) {
    MST_TRY(check_task(job, index));
    MST_TRY(mst_grow(&cluster->task, sizeof *cluster->task, cluster->num_tasks + 1, &cluster->capacity));
    const mst_task_info *last = cluster->num_tasks ? &cluster->task[cluster->num_tasks - 1] : NULL;
    mst_task_info task = {.index = (int32_t)index};
    task.job = last && strcmp(last->job, job) == 0 ? last->job : mst_arena_string(&cluster->arena, job);
    if (!task.job) return MST_NO_MEMORY("for a cluster");
    if (address && read_address(cluster, address, &task.address))
        return mst_error_prefix("%s %d", task.job, (int)task.index);
    cluster->task[cluster->num_tasks++] = task;
    return MST_OK;
}

static mst_status check_jobs(const mst_cluster *cluster) {
    if (cluster->num_tasks == 0)
        return MST_FAIL(MST_INVALID, "the cluster has no tasks: list at least the address of this one");
    for (int64_t i = 1; i < cluster->num_tasks; i++)
        if (compare_tasks(&cluster->task[i - 1], &cluster->task[i]) == 0)
            return MST_FAIL(MST_INVALID, "%s %d is described twice: give each task of a job an index of its own",
                            cluster->task[i].job, (int)cluster->task[i].index);
    const int chiefs = count_rank(cluster, RANK_CHIEF), evaluators = count_rank(cluster, RANK_EVALUATOR);
    if (chiefs > 1)
        return MST_FAIL(MST_INVALID, "%d tasks of jobs 'chief' and 'master': a cluster has at most one chief", chiefs);
    if (evaluators > 1)
        return MST_FAIL(MST_INVALID, "%d tasks of job 'evaluator': a cluster has at most one evaluator", evaluators);
    return MST_OK;
}

static const char *port_of(const char *address) {
    return strrchr(address, ':') + 1;
}

/* The host of ADDRESS, LENGTH bytes long. For "localhost", which means the same everywhere, it is 127.0.0.1. */
static const char *host_of(const char *address, size_t *length) {
    *length = (size_t)(port_of(address) - address) - 1;
    const bool is_localhost = *length == strlen("localhost") && memcmp(address, "localhost", *length) == 0;
    return is_localhost ? "127.0.0.1" : address;
}

static int compare_addresses(const char *a, const char *b) {
    size_t length_a, length_b;
    const char *host_a = host_of(a, &length_a), *host_b = host_of(b, &length_b);
    const int by_port = strcmp(port_of(a), port_of(b));
    if (by_port || length_a != length_b) return by_port ? by_port : (length_a > length_b) - (length_a < length_b);
    return memcmp(host_a, host_b, length_a);
}

static int compare_known(const void *first, const void *second) {
    const mst_task_info *a = *(const mst_task_info *const *)first, *b = *(const mst_task_info *const *)second;
    const int by_address = compare_addresses(a->address, b->address);
    return by_address ? by_address : (a > b) - (a < b);
}

/* Checks that no two tasks have one address. KNOWN: the COUNT tasks whose addresses are known. */
static mst_status check_duplicates(const mst_task_info **known, size_t count) {
    qsort(known, count, sizeof *known, compare_known);
    for (size_t i = 1; i < count; i++) {
        const mst_task_info *a = known[i - 1], *b = known[i];
        const bool same = compare_addresses(a->address, b->address) == 0;
        if (same && strcmp(port_of(a->address), "0") != 0)
            return MST_FAIL(MST_INVALID,
                            "%s %d at '%s' and %s %d at '%s' have one address: give each task a port of its own",
                            a->job, (int)a->index, a->address, b->job, (int)b->index, b->address);
    }
    return MST_OK;
}

static bool is_loopback(const mst_task_info *task) {
    mst_address address;
    return !mst_address_parse(task->address, &address) && mst_address_is_loopback(&address);
}

/* A loopback address is an error if tasks are on several hosts: on each host it means that host itself. */
static mst_status check_loopback(const mst_task_info **known, size_t count) {
    const mst_task_info *near = NULL, *far = NULL;
    for (size_t i = 0; i < count && !(near && far); i++) *(is_loopback(known[i]) ? &near : &far) = known[i];
    if (!near || !far) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "%s %d is at '%s', where tasks on other hosts, such as %s %d at '%s', cannot reach it: write its "
                    "host's name or address",
                    near->job, (int)near->index, near->address, far->job, (int)far->index, far->address);
}

static mst_status check_addresses(const mst_cluster *cluster) {
    const mst_task_info **known = malloc((size_t)cluster->num_tasks * sizeof(const mst_task_info *));
    if (!known) return MST_NO_MEMORY("for a cluster");
    size_t count = 0;
    for (int64_t i = 0; i < cluster->num_tasks; i++)
        if (cluster->task[i].address) known[count++] = &cluster->task[i];
    mst_status status = check_duplicates(known, count);
    if (!status) status = check_loopback(known, count);
    free(known);
    return status;
}

/* The error of a process that is not a task of its cluster. */
static mst_status fail_unknown_task(const mst_cluster *cluster, const char *job, int64_t index) {
    const char *names[MOST_NAMES + 1] = {NULL};
    char guess[MST_DID_YOU_MEAN_TEXT], list[256] = "";
    size_t used = 0, num_names = 0;
    int count = 0;
    for (int64_t i = 0; i < cluster->num_tasks; i++) {
        const char *name = cluster->task[i].job;
        count += strcmp(name, job) == 0;
        if (num_names == MOST_NAMES || (num_names && strcmp(names[num_names - 1], name) == 0)) continue;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", num_names ? ", " : "", name);
        names[num_names++] = name;
    }
    if (!count)
        return MST_FAIL(MST_INVALID, "this process is task %lld of job '%.80s', but the cluster has only %s%s",
                        (long long)index, job, list, mst_did_you_mean(job, names, guess, sizeof guess));
    if (cluster->sparse)
        return MST_FAIL(MST_INVALID, "this process is task %lld of job '%s', whose address is missing there",
                        (long long)index, job);
    return MST_FAIL(MST_INVALID, "this process is task %lld of job '%s', which has %d: write an index from 0 to %d",
                    (long long)index, job, count, count - 1);
}

/* Finds this process among the tasks. An evaluator that is not in the list is added. */
static mst_status choose_self(mst_cluster *cluster, const char *job, int64_t index) {
    MST_TRY(check_task(job, index));
    cluster->self = mst_cluster_find(cluster, job, (int)index);
    if (cluster->self >= 0) return MST_OK;
    if (rank_of(job) != RANK_EVALUATOR || index > 0 || count_rank(cluster, RANK_EVALUATOR))
        return fail_unknown_task(cluster, job, index);
    cluster->self = (int)cluster->num_tasks;
    return mst_cluster_add(cluster, job, index, NULL);
}

static uint64_t hash_tasks(const mst_cluster *cluster) {
    uint64_t hash = (uint64_t)cluster->num_training;
    for (int i = 0; i < cluster->num_training; i++) {
        const mst_task_info *task = &cluster->task[i];
        hash = mst_rng_mix(hash, mst_rng_hash_name(task->job));
        hash = mst_rng_mix(hash, (uint64_t)task->index);
        hash = mst_rng_mix(hash, mst_rng_hash_name(task->address ? task->address : ""));
    }
    return hash;
}

mst_status mst_cluster_end(mst_cluster *cluster, const char *job, int64_t index) {
    if (cluster->num_tasks) qsort(cluster->task, (size_t)cluster->num_tasks, sizeof *cluster->task, compare_tasks);
    MST_TRY(check_jobs(cluster));
    MST_TRY(check_addresses(cluster));
    MST_TRY(choose_self(cluster, job, index));
    cluster->num_training = (int)cluster->num_tasks - count_rank(cluster, RANK_EVALUATOR);
    cluster->num_ps = count_rank(cluster, RANK_PS);
    cluster->num_workers = count_rank(cluster, RANK_CHIEF) + count_rank(cluster, RANK_WORKER);
    if (!cluster->num_ps && !cluster->num_workers) cluster->num_workers = cluster->num_training;
    cluster->hash = cluster->sparse ? 0 : hash_tasks(cluster);
    return MST_OK;
}

mst_status mst_cluster_give(mst_cluster *cluster, mst_status status, const char *source, mst_cluster **out) {
    if (!status) {
        *out = cluster;
        return MST_OK;
    }
    mst_cluster_release(cluster);
    return mst_error_prefix("%s", source);
}

mst_status mst_cluster_local(mst_cluster **out) {
    static const char job[] = "localhost";
    mst_cluster *cluster;
    MST_TRY(mst_cluster_begin(&cluster));
    mst_status status = mst_cluster_add(cluster, job, 0, NULL);
    if (!status) status = mst_cluster_end(cluster, job, 0);
    return mst_cluster_give(cluster, status, "no cluster", out);
}

static mst_status add_job(mst_cluster *cluster, const mst_cluster_job *job) {
    if (job->num_tasks < 1)
        return MST_FAIL(MST_INVALID, "job '%.80s' has no tasks: leave it out, or list its addresses", job->name);
    cluster->sparse |= job->index != NULL;
    for (int i = 0; i < job->num_tasks; i++)
        MST_TRY(
            mst_cluster_add(cluster, job->name, job->index ? job->index[i] : i, job->address ? job->address[i] : NULL));
    return MST_OK;
}

mst_status mst_cluster_create(const mst_cluster_options *options, mst_cluster **out) {
    if (MST_IS_NULL(options) || MST_IS_NULL(options->job_name) || MST_IS_NULL(out)) return MST_INVALID;
    if (options->num_jobs > 0 && MST_IS_NULL(options->jobs)) return MST_INVALID;
    for (int i = 0; i < options->num_jobs; i++)
        if (MST_IS_NULL(options->jobs[i].name)) return MST_INVALID;
    mst_cluster *cluster;
    mst_status status = MST_OK;
    MST_TRY(mst_cluster_begin(&cluster));
    cluster->allow_any_port = options->allow_any_port;
    for (int i = 0; i < options->num_jobs && !status; i++) status = add_job(cluster, &options->jobs[i]);
    if (!status) status = mst_cluster_end(cluster, options->job_name, options->task_index);
    return mst_cluster_give(cluster, status, "cluster", out);
}

/* ---- reading ---- */

mst_cluster *mst_cluster_retain(mst_cluster *cluster) {
    if (MST_IS_NULL(cluster)) return NULL;
    atomic_fetch_add_explicit(&cluster->references, 1, memory_order_relaxed);
    return cluster;
}

void mst_cluster_release(mst_cluster *cluster) {
    if (!cluster || atomic_fetch_sub_explicit(&cluster->references, 1, memory_order_acq_rel) > 1) return;
    mst_arena_free(&cluster->arena);
    free(cluster->task);
    free(cluster);
}

mst_task_info mst_cluster_task(const mst_cluster *cluster, int number) {
    if (MST_IS_NULL(cluster) || number < 0 || number >= cluster->num_tasks) return (mst_task_info){0};
    return cluster->task[number];
}

int mst_cluster_find(const mst_cluster *cluster, const char *job, int index) {
    if (MST_IS_NULL(cluster) || MST_IS_NULL(job)) return -1;
    const mst_task_info wanted = {.job = job, .index = index};
    const mst_task_info *found =
        bsearch(&wanted, cluster->task, (size_t)cluster->num_tasks, sizeof wanted, compare_tasks);
    return found ? (int)(found - cluster->task) : -1;
}

int mst_cluster_self(const mst_cluster *cluster) {
    return MST_IS_NULL(cluster) ? 0 : cluster->self;
}

int mst_cluster_num_tasks(const mst_cluster *cluster) {
    return MST_IS_NULL(cluster) ? 0 : (int)cluster->num_tasks;
}

int mst_cluster_num_training_tasks(const mst_cluster *cluster) {
    return MST_IS_NULL(cluster) ? 0 : cluster->num_training;
}

int mst_cluster_num_workers(const mst_cluster *cluster) {
    return MST_IS_NULL(cluster) ? 0 : cluster->num_workers;
}

int mst_cluster_num_ps(const mst_cluster *cluster) {
    return MST_IS_NULL(cluster) ? 0 : cluster->num_ps;
}

/* Whether task NUMBER has index 0 in its job. In a sparse cluster, the tasks with the lowest indices may be missing. */
static bool has_index_0(const mst_cluster *cluster, int number) {
    return cluster->task[number].index == 0;
}

bool mst_cluster_is_chief(const mst_cluster *cluster) {
    if (MST_IS_NULL(cluster)) return false;
    return cluster->self == 0 && cluster->num_workers > 0 && has_index_0(cluster, 0);
}

int mst_cluster_leader(const mst_cluster *cluster) {
    if (MST_IS_NULL(cluster)) return -1;
    const int first = cluster->num_ps ? cluster->num_workers : 0;
    return cluster->num_training > 0 && has_index_0(cluster, first) ? first : -1;
}

bool mst_cluster_is_local(const mst_cluster *cluster) {
    if (MST_IS_NULL(cluster)) return false;
    for (int64_t i = 0; i < cluster->num_tasks; i++)
        if (!cluster->task[i].address || !is_loopback(&cluster->task[i])) return false;
    return true;
}

bool mst_cluster_is_sparse(const mst_cluster *cluster) {
    return !MST_IS_NULL(cluster) && cluster->sparse;
}

uint64_t mst_cluster_hash(const mst_cluster *cluster) {
    return MST_IS_NULL(cluster) ? 0 : cluster->hash;
}

/* Writes which task this process is: "worker 0 of 2 at a:2222". */
static size_t print_self(const mst_cluster *cluster, char *text, size_t size) {
    const mst_task_info *self = &cluster->task[cluster->self];
    int count = 0;
    for (int64_t i = 0; i < cluster->num_tasks; i++) count += strcmp(cluster->task[i].job, self->job) == 0;
    char of[32] = "";
    if (!cluster->sparse) snprintf(of, sizeof of, " of %d", count);
    return (size_t)snprintf(text, size, "%s %d%s%s%s", self->job, (int)self->index, of, self->address ? " at " : "",
                            self->address ? self->address : "");
}

const char *mst_cluster_print(const mst_cluster *cluster, char *text, size_t size) {
    if (MST_IS_NULL(cluster) || MST_IS_NULL(text) || !size) return "";
    size_t used = print_self(cluster, text, size);
    const char *between = ", with ";
    for (int i = 0; i < cluster->num_tasks && used < size; i++) {
        const mst_task_info *task = &cluster->task[i];
        if (i == cluster->self || !task->address) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %d at %s", between, task->job, (int)task->index,
                                 task->address);
        between = ", ";
    }
    const size_t dots = sizeof "...";
    if (used >= size && size >= dots) memcpy(text + size - dots, "...", dots);
    return text;
}

const char *mst_cluster_lists(const mst_cluster *cluster, char text[MST_CLUSTER_LISTS]) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0, end; i < cluster->num_training && !cluster->sparse && used < MST_CLUSTER_LISTS; i = end) {
        const char *job = cluster->task[i].job;
        for (end = i; end < cluster->num_training && strcmp(cluster->task[end].job, job) == 0;) end++;
        used += (size_t)snprintf(text + used, MST_CLUSTER_LISTS - used, "%s%.60s: %d", used ? ", " : "", job, end - i);
    }
    return text;
}
