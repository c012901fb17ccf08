/** Workers of a cluster that are threads of the test, each with a task of its own. */
#ifndef MUSTER_TEST_SUPPORT_OPEN_WORKER_H
#define MUSTER_TEST_SUPPORT_OPEN_WORKER_H

#include "muster/task.h"
#include "support/tasks.h"

/** Opens the task of worker SELF of COUNT, which are at ADDRESS, with OPTIONS, but for its cluster. */
mst_status open_worker(task_address *address, int count, int self, mst_task_options options, mst_task **out);

#endif
