/* The table of a task that trains alone, and the choice of the table for a trainer. */
#include "train/cooperation.h"

#include "task/task.h"
#include "train/trainer.h"

const mst_cooperation mst_cooperation_alone = {.share = NULL};

mst_status mst_cooperation_fail(mst_trainer *trainer, mst_status status) {
    return status && status != MST_CANCELLED ? mst_task_fail(trainer->options.task, status) : status;
}

const mst_cooperation *mst_cooperation_of(const mst_trainer *trainer) {
    const mst_task *task = trainer->options.task;
    if (!task) return &mst_cooperation_alone;
    return mst_task_servers(task) ? &mst_cooperation_servers : &mst_cooperation_workers;
}
