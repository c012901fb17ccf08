/** Decides which tasks may go on as the next generation if workers may be fewer than all
 *  (mst_task_options.elastic_min).
 *
 *  Two parts of a cut network must never both go on. The tasks that go on must therefore include a majority of the last
 *  generation. That is more than half of its tasks, or exactly half if the lowest task is among them. Two such parts
 *  always have a task in common.
 *
 *  Not every task may know which generation was the last one. A member remembers the last generation that it knows to
 *  have begun. It also remembers the later generations to which it has agreed (BEGIN in members.h), but does not know
 *  whether they have begun. Tasks may go on if they include a majority of each of all these generations. That is
 *  enough. Suppose that generation L began next after generation K, and that the tasks that would go on remember only
 *  K. They include a majority of K, and so does L. They therefore share a task with L. A generation begins only when
 *  all its members have agreed, so this task remembers L. The tasks must then include a majority of L too, and likewise
 *  of each generation after L.
 *
 *  A task counts if its process takes part. It also counts if its process is known to have ended, since that process
 *  goes on nowhere. The end is known if the machine of the process has reported it. It is also known if a new process
 *  takes part with the same number and address. A process that has ended no longer remembers the generations to which
 *  it agreed. One case must therefore be avoided. A task agrees to a generation, and is then started again where a cut
 *  of the network separates it from the other members. These may go on, because they count the ended process. The new
 *  process may go on too, with tasks on its side of the cut that do not know the generation. */
#ifndef MUSTER_MEMBERSHIP_QUORUM_H
#define MUSTER_MEMBERSHIP_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

/** A set of tasks: one bit for each. */
typedef uint64_t mst_task_set;
enum { MST_ELASTIC_TASKS_MOST = 64, MST_AGREED_MOST = 6 };

typedef struct mst_known_generation {
    uint32_t number;
    mst_task_set tasks;
} mst_known_generation;

/** The generations that a member remembers. */
typedef struct mst_known_generations {
    mst_known_generation begun; /**< number 0: none has begun; then TASKS are all tasks of the cluster */
    int32_t num_agreed;
    mst_known_generation agreed[MST_AGREED_MOST]; /**< with greater numbers than `begun` */
} mst_known_generations;

static inline mst_task_set mst_task_bit(int32_t task) {
    return UINT64_C(1) << task;
}
/** The first NUM_TASKS tasks, from 1 to MST_ELASTIC_TASKS_MOST. */
mst_task_set mst_all_tasks(int32_t num_tasks);
int32_t mst_num_tasks_in(mst_task_set set);
/** Whether THERE includes a majority of LAST. */
bool mst_has_majority(mst_task_set last, mst_task_set there);
/** Whether the tasks in THERE may go on, as far as the generations in KNOWN decide it. */
bool mst_may_go_on(const mst_known_generations *known, mst_task_set there);

/** GENERATION is known to have begun: earlier generations do not matter any more. */
void mst_know_begun(mst_known_generations *known, const mst_known_generation *generation);
/** Remembers GENERATION, to which the member agrees. False if it remembers too many: then it must not agree. */
bool mst_know_agreed(mst_known_generations *known, const mst_known_generation *generation);
/** No generation that TASK has proposed from number SINCE on has ever begun: these are forgotten. */
void mst_know_withdrawn(mst_known_generations *known, uint32_t since, int32_t task, int32_t num_tasks);
/** Adds the generations of OTHER. False if there are too many to be remembered. */
bool mst_know_more(mst_known_generations *known, const mst_known_generations *other);
/** The smallest number for a new generation that TASK proposes, above all known ones and above FLOOR. No other task
 *  proposes the same number. 0: no number is left. */
uint32_t mst_next_generation(const mst_known_generations *known, uint32_t floor, int32_t task, int32_t num_tasks);

#endif
