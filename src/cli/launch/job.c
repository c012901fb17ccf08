#include "cli/launch/job.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "cluster/free_ports.h"

enum { LAST_PORT = 65535, NUM_FLAGS = 4 };

static const char *const role_names[] = {"ps", "chief", "worker", "evaluator"};

const char *job_role_name(job_role role) {
    return role_names[role];
}

bool job_role_works(job_role role) {
    return role == JOB_CHIEF || role == JOB_WORKER;
}

/* ---- machines and ports ---- */

static mst_status place_tasks(const host_list *hosts, job *job) {
    int worker = 0, other = 0, slots = 0;
    const host *to = hosts->host;
    for (int i = 0; i < hosts->count; i++) slots += hosts->host[i].slots;
    if (job->num[JOB_CHIEF] + job->num[JOB_WORKER] > slots)
        return MST_FAIL(MST_INVALID, "--hosts: %d workers%s need as many slots, and there are %d: add hosts or slots=N",
                        job->num[JOB_WORKER], job->num[JOB_CHIEF] ? " and the chief" : "", slots);
    for (int i = 0; i < job->num_tasks; i++) {
        job_task *task = &job->task[i];
        if (!job_role_works(task->role)) {
            task->host = &hosts->host[other++ % hosts->count];
        } else {
            while (worker >= to->slots) worker = 0, to++;
            task->host = to;
            worker++;
        }
    }
    return MST_OK;
}

/* Gives the tasks of each machine the ports FIRST, FIRST + 1, ... */
static mst_status count_ports(const job *job, int first, int *port) {
    for (int i = 0; i < job->num_tasks; i++) {
        port[i] = first;
        for (int k = 0; k < i; k++) port[i] += job->task[k].host == job->task[i].host;
        if (port[i] > LAST_PORT)
            return MST_FAIL(MST_INVALID, "--port %d: there are not enough ports up to %d for %d tasks: begin lower",
                            first, LAST_PORT, job->num_tasks);
    }
    return MST_OK;
}

/* The address is HOST:PORT. A host with colons, such as an IPv6 address, is put in brackets. */
static mst_status make_address(job_task *task, int port) {
    const char *host = task->host ? task->host->name : "localhost";
    const bool has_colon = strchr(host, ':') != NULL;
    if (asprintf(&task->address, "%s%s%s:%d", has_colon ? "[" : "", host, has_colon ? "]" : "", port) >= 0)
        return MST_OK;
    task->address = NULL;
    return MST_NO_MEMORY("for an address");
}

static mst_status make_addresses(const job_plan *plan, job *job) {
    const int count = job->num_tasks - job->num[JOB_EVALUATOR]; /* the evaluator is the last task, and has no port */
    int *port = calloc((size_t)job->num_tasks, sizeof *port);
    if (!port) return MST_NO_MEMORY("for the ports of %d tasks", count);
    mst_status status = plan->first_port ? count_ports(job, plan->first_port, port) : mst_find_free_ports(count, port);
    for (int i = 0; !status && i < count; i++) status = make_address(&job->task[i], port[i]);
    free(port);
    return status;
}

/* ---- TF_CONFIG ---- */

static json_t *make_cluster(const job *job) {
    json_t *cluster = json_object();
    for (int i = 0; i < job->num_tasks; i++) {
        const job_task *task = &job->task[i];
        const char *role = job_role_name(task->role);
        if (!task->address) continue;
        if (!json_object_get(cluster, role)) json_object_set_new(cluster, role, json_array());
        json_array_append_new(json_object_get(cluster, role), json_string(task->address));
    }
    return cluster;
}

static mst_status make_variable(json_t *cluster, job_task *task) {
    json_t *config = json_pack("{s:O, s:{s:s, s:i}}", "cluster", cluster, "task", "type", job_role_name(task->role),
                               "index", task->index);
    char *text = json_dumps(config, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(config);
    if (!text || asprintf(&task->variable, "TF_CONFIG=%s", text) < 0) task->variable = NULL;
    free(text);
    return task->variable ? MST_OK : MST_NO_MEMORY("for TF_CONFIG");
}

static mst_status make_variables(job *job) {
    json_t *cluster = make_cluster(job);
    mst_status status = MST_OK;
    for (int i = 0; !status && i < job->num_tasks; i++) status = make_variable(cluster, &job->task[i]);
    json_decref(cluster);
    return status;
}

/* ---- arguments ---- */

/* "--worker_hosts=localhost:2222,localhost:2223" */
static char *hosts_flag(const job *job, job_role role) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    fprintf(file, "--%s_hosts=", job_role_name(role));
    for (int i = 0, count = 0; i < job->num_tasks; i++)
        if (job->task[i].role == role) fprintf(file, "%s%s", count++ ? "," : "", job->task[i].address);
    if (fclose(file) == 0) return text;
    free(text);
    return NULL;
}

static bool make_flags(const job *job, job_task *task) {
    int count = 0;
    if (job->num[JOB_PS] && !(task->flags[count++] = hosts_flag(job, JOB_PS))) return false;
    if (!(task->flags[count++] = hosts_flag(job, JOB_WORKER))) return false;
    if (asprintf(&task->flags[count], "--job_name=%s", job_role_name(task->role)) < 0)
        return task->flags[count] = NULL, false;
    if (asprintf(&task->flags[count + 1], "--task_index=%d", task->index) < 0)
        return task->flags[count + 1] = NULL, false;
    return true;
}

static mst_status make_arguments(const job_plan *plan, const job *job, job_task *task) {
    const int count = plan->num_arguments;
    task->arguments = calloc((size_t)count + NUM_FLAGS + 1, sizeof *task->arguments);
    if (!task->arguments || (plan->flags && !make_flags(job, task))) return MST_NO_MEMORY("for %d arguments", count);
    memcpy(task->arguments, plan->arguments, (size_t)count * sizeof *task->arguments);
    for (int i = 0; i < NUM_FLAGS; i++) task->arguments[count + i] = task->flags[i];
    return MST_OK;
}

/* ---- the job ---- */

static mst_status fill(const job_plan *plan, job *job) {
    int count = 0;
    for (job_role role = 0; role < JOB_NUM_ROLES; role++)
        for (int i = 0; i < plan->num[role]; i++) {
            job_task *task = &job->task[count++];
            task->role = role;
            task->index = i;
            snprintf(task->name, sizeof task->name, "%s:%d", job_role_name(role), i);
        }
    if (plan->hosts.count) MST_TRY(place_tasks(&plan->hosts, job));
    MST_TRY(make_addresses(plan, job));
    MST_TRY(make_variables(job));
    for (int i = 0; i < job->num_tasks; i++) MST_TRY(make_arguments(plan, job, &job->task[i]));
    return MST_OK;
}

mst_status job_make(const job_plan *plan, job *out) {
    job made = {0};
    for (int role = 0; role < JOB_NUM_ROLES; role++) made.num_tasks += made.num[role] = plan->num[role];
    made.task = calloc((size_t)made.num_tasks, sizeof *made.task);
    if (!made.task) return MST_NO_MEMORY("for %d tasks", made.num_tasks);
    const mst_status status = fill(plan, &made);
    if (status)
        job_free(&made);
    else
        *out = made;
    return status;
}

void job_free(job *job) {
    for (int i = 0; i < job->num_tasks; i++) {
        job_task *task = &job->task[i];
        for (int k = 0; k < NUM_FLAGS; k++) free(task->flags[k]);
        free(task->arguments);
        free(task->variable);
        free(task->address);
    }
    free(job->task);
    *job = (struct job){0};
}
