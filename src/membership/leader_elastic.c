/* Decides who takes part in a generation if workers may be fewer than all (quorum.h). */
#include <stdio.h>

#include "membership/leader_inside.h"

static const double OTHERS_MAY_BE_LATE = 0.3; /* seconds to wait for tasks of the last generation */

/* Collects the generations that the present tasks remember. False: there are too many. Drops generations that this
 * leader has proposed and that have not begun: nobody but this leader could begin them. */
static bool collect_known(mst_leader *leader) {
    mst_known_generations *known = &leader->known;
    bool has_room = true;
    *known = (mst_known_generations){.begun.tasks = mst_all_tasks(leader->options->num_tasks)};
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        mst_known_generations its = leader->entry[i].member.known;
        if (!leader->entry[i].present) continue;
        if (leader->first_number)
            mst_know_withdrawn(&its, leader->first_number, leader->options->self, leader->options->num_tasks);
        has_room &= mst_know_more(known, &its);
    }
    return has_room;
}

/* Tasks whose processes have ended, as the present tasks report. */
static mst_task_set find_ended(const mst_leader *leader) {
    mst_task_set ended = 0;
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (leader->entry[i].present) ended |= leader->entry[i].member.ended;
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (leader->entry[i].present) ended &= ~mst_task_bit(i);
    return ended;
}

/* Whether a task of the last generation is there, and will be ready soon. */
static bool is_one_busy(const mst_leader *leader) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const mst_member_entry *entry = &leader->entry[i];
        if (entry->present && !entry->member.ready && entry->member.has_run &&
            (leader->known.begun.tasks & mst_task_bit(i)))
            return true;
    }
    return false;
}

mst_task_set mst_elastic_tasks(const mst_leader *leader) {
    mst_task_set tasks = 0;
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (leader->entry[i].takes_part) tasks |= mst_task_bit(i);
    return tasks;
}

bool mst_elastic_may_begin(mst_leader *leader) {
    const mst_members_options *o = leader->options;
    const bool has_room = collect_known(leader), was_there = mst_leader_job_has_run(leader);
    const mst_task_set all = mst_all_tasks(o->num_tasks);
    for (int32_t i = 0; i < o->num_tasks; i++) leader->entry[i].takes_part = mst_member_is_ready(&leader->entry[i]);
    const mst_task_set there = mst_elastic_tasks(leader);
    leader->cause = MST_WAITS_FOR_ALL;
    if (!(there & mst_task_bit(o->self))) return false;
    if (there == all) return true;
    if (mst_num_tasks_in(there) < o->elastic_min) {
        leader->cause = MST_WAITS_FOR_MIN;
        return false;
    }
    if (!has_room || !mst_may_go_on(&leader->known, there | find_ended(leader))) {
        leader->cause = MST_WAITS_FOR_MAJORITY;
        return false;
    }
    const double seconds = was_there ? OTHERS_MAY_BE_LATE : o->start_wait;
    return !is_one_busy(leader) && leader->now > mst_leader_after(leader->gathers_since, seconds);
}

uint32_t mst_elastic_number(mst_leader *leader) {
    const mst_members_options *o = leader->options;
    const uint32_t number = mst_next_generation(&leader->known, leader->generation, o->self, o->num_tasks);
    if (!leader->first_number) leader->first_number = number;
    return number;
}

bool mst_elastic_has_waited_too_long(const mst_leader *leader, mst_task_failure *failure) {
    const mst_members_options *o = leader->options;
    const int32_t there = mst_num_tasks_in(mst_elastic_tasks(leader));
    if (leader->phase != GATHERING || leader->now <= mst_leader_after(leader->gathers_since, o->recovery_timeout))
        return false;
    const bool few = leader->cause == MST_WAITS_FOR_MIN, went_on = mst_leader_job_has_run(leader);
    mst_task_failure_set(
        failure, MST_UNAVAILABLE, -1, leader->state_number,
        "%d of %d workers were here for %g s, and may not %s alone: they are %s; start the others %s, or give a longer "
        "recovery timeout%s",
        there, o->num_tasks, o->recovery_timeout, went_on ? "go on" : "begin",
        few       ? "fewer than the job may have"
        : went_on ? "no majority of those who were there last"
                  : "no majority of all",
        went_on ? "again" : "too", went_on ? "" : "; if the job has ended before, nothing is left to do");
    return true;
}
