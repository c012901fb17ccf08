/* What must be the same in all members: their fingerprints (cluster/fingerprint.h), and the instructions of their
 * machines. */
#include "membership/leader_inside.h"

/* Whether SECOND differs from FIRST; then FAILURE is the error that says in what. */
static bool differs(const mst_leader *leader, int32_t first, int32_t second, mst_task_failure *failure) {
    const mst_member_state *a = &leader->entry[first].member.state, *b = &leader->entry[second].member.state;
    char name_a[384], name_b[384];
    mst_task_failure_set(failure, MST_INVALID, second, MST_NO_STATE, "%s", "");
    return mst_fingerprints_differ(a->fingerprint, a->num_fingerprints, mst_leader_member_text(leader, first, name_a),
                                   b->fingerprint, b->num_fingerprints, mst_leader_member_text(leader, second, name_b),
                                   failure->message, sizeof failure->message);
}

/* The task with which others are compared: one that has been in a generation, or else one that is ready. -1: there is
 * none. */
static int32_t reference(const mst_leader *leader) {
    int32_t first = -1;
    for (int32_t i = leader->options->num_tasks - 1; i >= 0; i--) {
        const mst_member_entry *entry = &leader->entry[i];
        if (!mst_member_is_ready(entry)) continue;
        const bool better = entry->member.generation || first < 0 || !leader->entry[first].member.generation;
        if (better) first = i;
    }
    return first;
}

static uint64_t instructions_of(const mst_leader *leader, int32_t task) {
    const mst_member_state *state = &leader->entry[task].member.state;
    return mst_fingerprints_instructions(state->fingerprint, state->num_fingerprints);
}

/* Whether SECOND, a task that joins, lacks instructions with which FIRST has made its steps; then FAILURE says so. */
static bool lacks_instructions(const mst_leader *leader, int32_t first, int32_t second, mst_task_failure *failure) {
    const mst_member_state *a = &leader->entry[first].member.state, *b = &leader->entry[second].member.state;
    const uint64_t used = instructions_of(leader, first);
    char name_a[384], name_b[384];
    if ((used & instructions_of(leader, second)) == used) return false;
    mst_task_failure_set(failure, MST_INVALID, second, MST_NO_STATE, "%s", "");
    return mst_fingerprints_warn(a->fingerprint, a->num_fingerprints, mst_leader_member_text(leader, first, name_a),
                                 b->fingerprint, b->num_fingerprints, mst_leader_member_text(leader, second, name_b),
                                 false, failure->message, sizeof failure->message);
}

uint64_t mst_leader_common_instructions(const mst_leader *leader) {
    uint64_t common = UINT64_MAX;
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (leader->entry[i].takes_part) common &= instructions_of(leader, i);
    return common;
}

void mst_leader_compare_fingerprints(mst_leader *leader) {
    const int32_t first = reference(leader);
    const bool first_has_run = first >= 0 && leader->entry[first].member.generation;
    if (first < 0 || (leader->has_run && !first_has_run && !mst_leader_all_ready(leader))) return;
    for (int32_t i = 0; i < leader->options->num_tasks && leader->phase == GATHERING; i++) {
        mst_member_entry *entry = &leader->entry[i];
        mst_task_failure failure;
        const bool is_new = first_has_run && !entry->member.generation;
        if (!mst_member_is_ready(entry) ||
            (!differs(leader, first, i, &failure) && !(is_new && lacks_instructions(leader, first, i, &failure))))
            continue;
        if (!is_new) {
            mst_leader_end_job(leader, &failure);
        } else {
            const uint64_t instance = entry->member.instance;
            entry->present = entry->member.ready = false;
            entry->member.instance = 0;
            mst_leader_refuse(leader, i, instance, &failure);
        }
    }
}

void mst_leader_warn_of_machines(mst_leader *leader) {
    const int32_t self = leader->options->self;
    const mst_member_entry *own = &leader->entry[self];
    const mst_member_state *mine = &own->member.state;
    char a[384], b[384];
    mst_member_message notice = {.kind = MST_MEMBER_NOTICE};
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const mst_member_entry *entry = &leader->entry[i];
        if (!entry->takes_part || (entry->member.has_run && own->member.has_run)) continue;
        mst_task_failure_set(&notice.failure, MST_INVALID, i, MST_NO_STATE, "%s", "");
        if (!mst_fingerprints_warn(mine->fingerprint, mine->num_fingerprints, mst_leader_member_text(leader, self, a),
                                   entry->member.state.fingerprint, entry->member.state.num_fingerprints,
                                   mst_leader_member_text(leader, i, b), true, notice.failure.message,
                                   sizeof notice.failure.message))
            continue;
        mst_leader_tell_members(leader, &notice);
        return;
    }
}
