/* Finds which entries a step leaves torn if it fails behind the gate (run/gate.h), where nothing should fail.
 *
 * A device whose part fails behind the gate stops. If a late program fails, its device counts as stopped at this
 * program, although it may have started other programs since. A device that waits for a value that a stopped device did
 * not make stops too. The other devices complete their parts. The entries that the stopped devices still had to write
 * are torn: the old value may be half overwritten, and the new one is not complete. */
#include <stdio.h>
#include <string.h>

#include "run/session.h"

/* Marks the entries that NODE writes as torn. */
static void mark_node(const mst_cached_plan *cached, const mst_plan_node *node) {
    const mst_plan *plan = cached->plan;
    for (int i = 0; i < node->num_src && node->writer; i++) {
        const mst_plan_value *root = &plan->value[plan->value[node->src[i]].root];
        if (mst_plan_writes(node, i) && root->space == MST_IN_STATE) cached->state[root->index]->torn = true;
    }
}

void mst_session_mark_torn(const mst_cached_plan *cached, const mst_frame *frame) {
    const mst_plan *plan = cached->plan;
    for (int32_t i = 0; i < cached->num_devices; i++) {
        const int32_t device = cached->devices[i];
        const mst_program *program = &plan->program[device];
        for (int64_t k = frame->stop[device].call; k < program->num_calls; k++)
            mark_node(cached, &plan->node[plan->instance[program->call[k]].node]);
    }
}

/* Whether the entry of state I of the plan is torn, and I is the first state of this entry. So a message names each
 * torn entry once. */
static bool is_told(const mst_cached_plan *cached, int64_t i) {
    const mst_state *state = cached->state[i];
    if (!state || !state->torn || !cached->plan->state[i].writes) return false;
    for (int64_t k = 0; k < i; k++)
        if (cached->state[k] == state) return false;
    return true;
}

mst_status mst_session_tell_torn(mst_store *store, const mst_cached_plan *cached) {
    enum { MOST_NAMES = 8, ROOM = 600 };
    char text[ROOM] = "", more[32] = "";
    int64_t count = 0;
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < cached->plan->num_states; i++) {
        const size_t used = strlen(text);
        if (!is_told(cached, i) || count++ >= MOST_NAMES) continue;
        snprintf(text + used, ROOM - used, "%s'%s'", used ? ", " : "", cached->state[i]->name);
    }
    pthread_mutex_unlock(&store->lock);
    if (count == 0) return mst_error_prefix("the step was made, but");
    if (count > MOST_NAMES) snprintf(more, sizeof more, " and %lld more", (long long)(count - MOST_NAMES));
    return mst_error_prefix("the step failed while it wrote %s%s, torn now: set or restore %s before the next use",
                            text, more, count == 1 ? "it" : "them");
}
