/* The end of the training by callbacks. A callback may end it on only one task. If all tasks soon say that they end it
 * after the same state, the generation goes on. Otherwise the generation ends, and the tasks come together again with
 * the greatest state, as after a loss. Then all of them are told that training ends after that state. A task that was
 * lost before it was told of the end is told when it comes back. Each task that was told brings this information to the
 * next generation; it counts as long as no task has gone on. */
#include "membership/leader_inside.h"

static const double OTHERS_MAY_BE_LATE = 0.2; /* seconds, for the other tasks to stop by themselves */

void mst_leader_forget_stops(mst_leader *leader) {
    leader->stop_deadline = 0;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) leader->entry[i].stops = false;
}

/* Whether all members that take part end the training after the state NUMBER. */
static bool all_stop(const mst_leader *leader, int64_t number) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const mst_member_entry *entry = &leader->entry[i];
        if (entry->takes_part && (!entry->stops || entry->stops_at != number)) return false;
    }
    return true;
}

void mst_leader_hear_stops(mst_leader *leader, int32_t from, int64_t number) {
    mst_member_message message = {.kind = MST_MEMBER_STOPPED};
    leader->entry[from].stops = true;
    leader->entry[from].stops_at = number;
    if (!leader->stop_deadline) leader->stop_deadline = mst_leader_after(leader->now, OTHERS_MAY_BE_LATE);
    if (!all_stop(leader, number)) return;
    mst_leader_forget_stops(leader);
    mst_task_failure_set(&message.failure, MST_CANCELLED, from, number, "%s", "");
    mst_leader_tell_members(leader, &message);
}

bool mst_leader_must_stop(mst_leader *leader, mst_task_failure *failure) {
    const mst_member_entry *last = NULL;
    if (!leader->stop_deadline || leader->now <= leader->stop_deadline) return false;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const mst_member_entry *entry = &leader->entry[i];
        if (entry->stops && (!last || entry->stops_at > last->stops_at)) last = entry;
    }
    if (!last) return false;
    const int32_t task = (int32_t)(last - leader->entry);
    mst_task_failure_set(failure, MST_CANCELLED, task, last->stops_at, "%s has ended the training",
                         leader->options->name[task]);
    return true;
}

int64_t mst_leader_ended_at(const mst_leader *leader, int64_t state_number) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (leader->entry[i].takes_part && leader->entry[i].member.state.ended_at == state_number) return state_number;
    return MST_NO_STATE;
}
