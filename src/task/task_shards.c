/* The shards of a step: a window of them for each task that trains, and the group that sums over all. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/shard_rows.h"
#include "task/task_inside.h"

/* Lists the tasks that train now, and returns this task's place among them. Under the lock. */
static int32_t find_members(const mst_task *task, int32_t *number, int32_t *count) {
    int32_t self = 0;
    memcpy(number, task->member, (size_t)task->num_members * sizeof *number);
    *count = task->num_members;
    while (self + 1 < *count && number[self] != task->self) self++;
    return self;
}

mst_status mst_task_cut_shards(mst_task *task, int32_t num_shards) {
    const size_t most = (size_t)task->num_workers;
    mst_task_group *group = task->group;
    int32_t *number = calloc(most, sizeof *number), n = 0, self = 0;
    mst_shards *window = calloc(most, sizeof *window);
    mst_status status = number && window ? MST_OK : MST_NO_MEMORY("for a task");
    pthread_mutex_lock(&task->lock);
    if (!status) self = find_members(task, number, &n);
    pthread_mutex_unlock(&task->lock);
    for (int32_t i = 0; i < n && !status; i++) {
        const int32_t first = (int32_t)mst_part_begin(num_shards, n, i);
        window[i] = (mst_shards){first, (int32_t)mst_part_begin(num_shards, n, i + 1) - first};
    }
    const mst_group_options options = {.type = task->type,
                                       .transport = task->transport,
                                       .num_members = n,
                                       .self = self,
                                       .task = number,
                                       .num_shards = num_shards,
                                       .window = window,
                                       .waits = &task->status.wait};
    if (!status) status = group ? mst_group_form(group, &options) : mst_group_create(&options, &group);
    free(number);
    free(window);
    pthread_mutex_lock(&task->lock); /* from now on the threads of the clock and of the transport use the group */
    task->group = group;
    pthread_mutex_unlock(&task->lock);
    return status;
}

bool mst_task_must_share_anew(mst_task *task) {
    if (!task->shared) return false;
    pthread_mutex_lock(&task->lock);
    bool same = mst_group_size(task->group) == task->num_members;
    for (int32_t i = 0; i < task->num_members && same; i++) same = mst_group_task(task->group, i) == task->member[i];
    pthread_mutex_unlock(&task->lock);
    return !same;
}

mst_status mst_task_share_anew(mst_task *task, int32_t num_shards) {
    return mst_task_cut_shards(task, num_shards);
}

int32_t mst_task_num_shards(const mst_task *task) {
    return task->shared ? mst_group_num_shards(task->group) : 0;
}

mst_status mst_task_share(mst_task *task, int32_t num_shards, mst_task_group **out) {
    if (task->shared && mst_group_num_shards(task->group) != num_shards)
        return MST_FAIL(MST_INVALID, "task: %d shards, but these tasks already train with %d: take the same number",
                        num_shards, mst_group_num_shards(task->group));
    if (num_shards < task->num_workers)
        return MST_FAIL(MST_INVALID, "task: %d shards are too few for %d workers: take at least as many", num_shards,
                        task->num_workers);
    if (!task->shared) MST_TRY(mst_task_cut_shards(task, num_shards));
    task->shared = true;
    *out = task->group;
    return MST_OK;
}

mst_task_group *mst_task_shards(const mst_task *task) {
    return task->group;
}
