/** Which tasks may go on as the next generation, where workers may be fewer than all (mst_task_options.elastic_min).
 *
 *  No two parts of a cut network may both go on. So those who go on have a majority of the last generation with them:
 *  more than half of its tasks, or exactly half, the lowest of them included. Two such parts have a task in common.
 *
 *  Which generation was the last one need not be known to all. A member remembers the last one of which it knows that
 *  it has begun, and those to which it has agreed since then (BEGIN in members.h), of which it does not know whether
 *  they have. Of each of these there must be a majority. A generation begins when all its members have agreed, so
 *  whoever would go on without its majority meets a member that remembers it.
 *
 *  A task counts where its process takes part. It also counts where its process is known to have ended, and goes on
 *  nowhere: the machine on which it ran has said so, or a new process takes part with its number and address. What such
 *  a process had agreed to is forgotten. So one task must not be cut off, and be started again on the other side of
 *  the cut, while the tasks that it was with go on without it. */
#ifndef MUSTER_MEMBERSHIP_QUORUM_H
#define MUSTER_MEMBERSHIP_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

/** A bit for each task. */
typedef uint64_t mst_task_set;
enum { MST_ELASTIC_TASKS_MOST = 64, MST_AGREED_MOST = 6 };

typedef struct mst_known_generation {
    uint32_t number;
    mst_task_set tasks;
} mst_known_generation;

/** What a member remembers. */
typedef struct mst_known_generations {
    mst_known_generation begun; /**< number 0: none has; then TASKS is all that the cluster has */
    int32_t num_agreed;
    mst_known_generation agreed[MST_AGREED_MOST]; /**< with greater numbers than `begun` */
} mst_known_generations;

static inline mst_task_set mst_task_bit(int32_t task) {
    return UINT64_C(1) << task;
}
/** The first NUM_TASKS tasks, from 1 to MST_ELASTIC_TASKS_MOST. */
mst_task_set mst_all_tasks(int32_t num_tasks);
int32_t mst_num_tasks_in(mst_task_set set);
/** Whether THERE has a majority of LAST. */
bool mst_has_majority(mst_task_set last, mst_task_set there);
/** Whether those in THERE may go on, by all that is KNOWN. */
bool mst_may_go_on(const mst_known_generations *known, mst_task_set there);

/** GENERATION is known to have begun: what was before it does not matter any more. */
void mst_know_begun(mst_known_generations *known, const mst_known_generation *generation);
/** Remembers GENERATION, to which the member agrees. False where it remembers too many: then it may not agree. */
bool mst_know_agreed(mst_known_generations *known, const mst_known_generation *generation);
/** What TASK has proposed from number SINCE on has never begun: it need not be remembered. */
void mst_know_withdrawn(mst_known_generations *known, uint32_t since, int32_t task, int32_t num_tasks);
/** Adds all that OTHER says. False where it is too much to be remembered. */
bool mst_know_more(mst_known_generations *known, const mst_known_generations *other);
/** The smallest number for a new generation that TASK proposes, above all that are known and FLOOR; no other task
 *  proposes the same. 0: there is none left. */
uint32_t mst_next_generation(const mst_known_generations *known, uint32_t floor, int32_t task, int32_t num_tasks);

#endif
