/* Clusters from the text of TF_CONFIG.
 *
 * TensorFlow reads it in tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py; Kubeflow's
 * operator writes it. Kubeflow may add workers while the job runs. Then each worker is told only of itself and of all
 * parameter servers, and each server is told only of itself:
 *
 *      {"cluster": {"worker": {"1": "b:2222"}, "ps": ["c:2222", "d:2222"]}, "task": {"type": "worker", "index": 1}}
 *      {"cluster": {"worker": {}, "ps": ["d:2222"]}, "task": {"type": "ps", "index": 1}}
 */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "cluster/cluster_spec.h"

#define EXAMPLE "{\"cluster\": {\"worker\": [\"a:2222\", \"b:2222\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}"

/* Which task this process is. */
typedef struct tf_task {
    const char *type;
    int64_t index;
} tf_task;

/* Parses an index: only digits, maybe with spaces around them. A '-' is taken here, so that
 * the caller can say that an index must not be negative. */
static bool parse_index(const char *text, int64_t *out) {
    const size_t most_digits = 9;
    while (isspace((unsigned char)*text)) text++;
    const char *digits = text + (*text == '-');
    const size_t count = strspn(digits, "0123456789");
    const char *rest = digits + count;
    while (isspace((unsigned char)*rest)) rest++;
    if (count == 0 || count > most_digits || *rest) return false;
    *out = strtol(text, NULL, 10);
    return true;
}

static mst_status read_task(const json_t *root, tf_task *out) {
    const json_t *task = json_object_get(root, "task");
    if (!json_is_object(task))
        return MST_FAIL(MST_INVALID, "\"task\" is missing: add \"task\": {\"type\": \"worker\", \"index\": 0}");
    const json_t *type = json_object_get(task, "type"), *index = json_object_get(task, "index");
    if (!json_is_string(type))
        return MST_FAIL(MST_INVALID,
                        "\"type\" of \"task\" must be the name of a job, as in {\"type\": \"worker\", "
                        "\"index\": 0}");
    out->type = json_string_value(type);
    out->index = json_integer_value(index);
    if (json_is_integer(index) || (json_is_string(index) && parse_index(json_string_value(index), &out->index)))
        return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "\"index\" of \"task\" must be a whole number, as in {\"type\": \"worker\", "
                    "\"index\": 0}");
}

static mst_status add_one(mst_cluster *cluster, const char *job, int64_t index, const json_t *address) {
    if (json_is_string(address)) return mst_cluster_add(cluster, job, index, json_string_value(address));
    return MST_FAIL(MST_INVALID, "%.80s %lld: an address must be a string \"host:port\"", job, (long long)index);
}

/* Adds the tasks of LIST, such as ["a:2222", "b:2222"]. If tasks know only some of the others, a list may consist of
 * this task's own address, whatever the index of this task is. */
static mst_status add_list(mst_cluster *cluster, const char *job, const json_t *list, const tf_task *task) {
    const size_t count = json_array_size(list);
    if (count == 0) return MST_FAIL(MST_INVALID, "job '%.80s' has no tasks: leave it out, or list its addresses", job);
    if (cluster->sparse && count == 1 && task->index > 0 && strcmp(job, task->type) == 0)
        return add_one(cluster, job, task->index, json_array_get(list, 0));
    for (size_t i = 0; i < count; i++) MST_TRY(add_one(cluster, job, (int64_t)i, json_array_get(list, i)));
    return MST_OK;
}

/* Adds the tasks of OBJECT, such as {"1": "b:2222"}. */
static mst_status add_sparse(mst_cluster *cluster, const char *job, json_t *object) {
    const char *key;
    json_t *address;
    json_object_foreach(object, key, address) {
        int64_t index;
        if (!parse_index(key, &index))
            return MST_FAIL(MST_INVALID, "job '%.80s': '%.80s' is not an index: write {\"1\": \"host:port\"}", job,
                            key);
        MST_TRY(add_one(cluster, job, index, address));
    }
    return MST_OK;
}

/* Whether the keys of OBJECT are 0 to its size - 1. */
static bool has_all_indices(json_t *object) {
    const char *key;
    json_t *address;
    int64_t index;
    json_object_foreach(object, key, address) {
        if (!parse_index(key, &index) || index < 0 || index >= (int64_t)json_object_size(object)) return false;
    }
    return json_object_size(object) > 0;
}

/* Whether tasks may be missing from JOBS. Either an index is missing, or each object has only one task: Kubeflow writes
 * that although there may be others. */
static bool is_sparse(json_t *jobs) {
    const char *job;
    json_t *tasks;
    size_t objects = 0, most = 0;
    json_object_foreach(jobs, job, tasks) {
        if (!json_is_object(tasks)) continue;
        if (!has_all_indices(tasks)) return true;
        objects++;
        if (json_object_size(tasks) > most) most = json_object_size(tasks);
    }
    return objects > 0 && most < 2;
}

static mst_status add_jobs(mst_cluster *cluster, json_t *jobs, const tf_task *task) {
    const char *job;
    json_t *tasks;
    cluster->sparse |= is_sparse(jobs);
    json_object_foreach(jobs, job, tasks) {
        if (json_is_object(tasks))
            MST_TRY(add_sparse(cluster, job, tasks));
        else if (json_is_array(tasks))
            MST_TRY(add_list(cluster, job, tasks, task));
        else
            return MST_FAIL(MST_INVALID, "job '%.80s' must be a list of addresses, [\"a:2222\", \"b:2222\"]", job);
    }
    return MST_OK;
}

static bool is_empty(const json_t *jobs) {
    return !jobs || json_is_null(jobs) || (json_is_object(jobs) && !json_object_size(jobs));
}

/* Reads a text without "cluster", in which this process must be the only task. */
static mst_status read_no_cluster(const json_t *root, mst_cluster *cluster) {
    tf_task task = {.type = "worker"};
    if (json_object_get(root, "task")) MST_TRY(read_task(root, &task));
    const bool alone =
        strcmp(task.type, "worker") == 0 || strcmp(task.type, "chief") == 0 || strcmp(task.type, "master") == 0;
    if (!alone || task.index != 0)
        return MST_FAIL(MST_INVALID,
                        "this process is task %lld of job '%.80s', but \"cluster\" is missing: write "
                        "it like " EXAMPLE,
                        (long long)task.index, task.type);
    MST_TRY(mst_cluster_add(cluster, "localhost", 0, NULL));
    return mst_cluster_end(cluster, "localhost", 0);
}

static mst_status read_config(json_t *root, mst_cluster *cluster) {
    tf_task task;
    if (!json_is_object(root)) return MST_FAIL(MST_INVALID, "it must be an object: write it like " EXAMPLE);
    json_t *jobs = json_object_get(root, "cluster");
    if (is_empty(jobs)) {
        jobs = json_object_get(root, "sparseCluster");
        cluster->sparse = !is_empty(jobs);
    }
    if (is_empty(jobs)) return read_no_cluster(root, cluster);
    if (!json_is_object(jobs))
        return MST_FAIL(MST_INVALID, "\"cluster\" must be an object of jobs: write it like " EXAMPLE);
    MST_TRY(read_task(root, &task));
    MST_TRY(add_jobs(cluster, jobs, &task));
    return mst_cluster_end(cluster, task.type, task.index);
}

static mst_status read_text(const char *text, mst_cluster *cluster) {
    json_error_t error;
    json_t *root = mst_json_read_string(text, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory) return MST_NO_MEMORY("for a cluster");
    if (!root)
        return MST_FAIL(MST_INVALID, "it is not JSON: line %d, column %d: %s: write it like " EXAMPLE, error.line,
                        error.column, error.text);
    const mst_status status = read_config(root, cluster);
    json_decref(root);
    return status;
}

mst_status mst_cluster_from_tf_config(const char *text, mst_cluster **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    if (!text || !*text) return mst_cluster_local(out);
    mst_cluster *cluster;
    MST_TRY(mst_cluster_begin(&cluster));
    return mst_cluster_give(cluster, read_text(text, cluster), "TF_CONFIG", out);
}
