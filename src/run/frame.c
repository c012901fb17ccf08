/* How a device executes its program, which is a list of actions (plan/program.h): run calls, wait for a point of
 * another device, reach a point, feed, receive, fetch, pass the gate. gate.c decides whether a device goes on past the
 * gate.
 *
 * Before the gate the first failure ends the step on all devices. Behind the gate a device that fails stops where it is
 * (`stop`). Devices that need values that it did not make stop too. Entries of the store that these devices still had
 * to write are then marked as torn (torn.c). */
#include "run/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "run/gate.h"
#include "run/part_inside.h"

/* ---- late calls ---- */

static mst_status settle_device(mst_frame *frame, int device, int64_t deadline, int32_t *node) {
    const mst_backend *backend = frame->devices->device[device].type->backend;
    *node = -1;
    return backend->settle && frame->instance[device] ? backend->settle(frame->instance[device], frame, deadline, node)
                                                      : MST_OK;
}

int32_t mst_frame_pending(mst_frame *frame, int *device, bool *late) {
    const mst_plan_node *nodes = frame->plan->node;
    int32_t found = -1;
    for (int d = 0; d < frame->devices->count; d++) {
        int32_t node;
        const bool is_late = settle_device(frame, d, 0, &node) == MST_DEADLINE;
        if (!is_late) node = atomic_load_explicit(&frame->at[d], memory_order_relaxed);
        if (node < 0 || (found >= 0 && nodes[found].position <= nodes[node].position)) continue;
        found = node;
        *device = d;
        *late = is_late;
    }
    return found;
}

/* STATUS is the error of a wait for late calls that took too long. Replaces it by an error that names the call that has
 * not ended, and sets *NODE to the node of this call. If all calls have ended by now, error and *NODE stay. */
static mst_status name_late(mst_frame *frame, mst_status status, int32_t *node) {
    mst_failure failure;
    int device;
    bool late;
    mst_failure_keep(&failure, status);
    const int32_t found = mst_frame_pending(frame, &device, &late);
    if (found < 0 || !late) return mst_failure_restore(&failure);
    *node = found;
    return MST_FAIL(MST_DEADLINE, "waited too long for %s: '%s' has not ended", frame->devices->device[device].text,
                    frame->plan->node[found].name);
}

mst_status mst_frame_settle(mst_frame *frame, int device, int64_t deadline, int32_t *node) {
    const mst_status status = settle_device(frame, device, deadline, node);
    if (status != MST_DEADLINE) return status;
    *node = -1;
    return name_late(frame, status, node);
}

mst_status mst_frame_ready(mst_frame *frame, int device, int32_t *node) {
    const mst_backend *backend = frame->devices->device[device].type->backend;
    *node = -1;
    if (!frame->plan->donates || !backend->ready || !frame->instance[device]) return MST_OK;
    return backend->ready(frame->instance[device], frame, node);
}

/* Whether ACTION reads a value in the memory of a device whose calls may be late. If the action fails, a late call may
 * be the cause. */
static bool reads_late(const mst_frame *frame, const mst_action *action) {
    switch (action->kind) {
        case MST_DO_RECEIVE:
        case MST_DO_SEND:
        case MST_DO_FETCH:
        case MST_DO_START: break;
        default: return false;
    }
    const mst_plan_node *node = &frame->plan->node[action->first];
    for (int i = 0; i < node->num_src; i++)
        if (mst_plan_value_domain(frame->plan, node->src[i])->type->copy_array) return true;
    return false;
}

/* Whether a NaN that a call finds may come from a late program. The program's own report of the NaN is read later. */
static bool has_late_calls(const mst_frame *frame) {
    for (int d = 0; d < frame->devices->count; d++)
        if (frame->devices->device[d].type->backend->settle) return true;
    return false;
}

/* ---- actions ---- */

/* Waits for a point of another device. HAPPENS: DEVICE is behind the gate, and must complete its writes. Then a thread
 * of a device waits without a deadline, because callers that wait for it have deadlines of their own. A caller that
 * runs device 0's part waits until frame->longer. */
static mst_status wait_for(mst_frame *frame, int device, const mst_action *action, mst_timeline *lines, bool happens) {
    const mst_devices *devices = frame->devices;
    const uint64_t point = frame->base[action->device] + (uint64_t)action->first;
    const int64_t behind = device == 0 && frame->caller_runs ? frame->longer : MST_NEVER;
    const int64_t deadline = happens ? behind : frame->deadline;
    if (!mst_timeline_wait(&lines[action->device], point, deadline, frame->spin))
        return MST_FAIL(MST_DEADLINE, "waited too long for %s: it is stuck, or the timeout is too short",
                        devices->device[action->device].text);
    const bool is_there =
        happens ? action->first <= atomic_load(&frame->stop[action->device].point) : !atomic_load(&frame->failed);
    return is_there ? MST_OK : MST_FAIL(MST_CANCELLED, "another device failed");
}

mst_array mst_frame_array(const mst_frame *frame, int32_t value) {
    mst_array array = mst_binding_array(frame->binding, value);
    const mst_plan_value *v = &frame->plan->value[value], *root = &frame->plan->value[v->root];
    if (root->space == MST_IN_FEED) array.data = (char *)mst_tensor_data(frame->feeds[root->index].tensor) + v->shift;
    return array;
}

/* A fed value that a function is filling. */
typedef struct filling {
    const mst_feed *from;
    mst_spec spec;
    size_t row_bytes;
    char *dst;
} filling;

static mst_status frame_fill(void *context, int64_t begin, int64_t end, int member) {
    const filling *f = context;
    mst_spec spec = f->spec;
    (void)member;
    if (spec.shape.ndim) spec.shape.dim[0] = end - begin;
    return f->from->fill(f->from->context, &spec, begin, f->dst + (size_t)begin * f->row_bytes);
}

static mst_status fill_all(filling *f, mst_team *team) {
    const int64_t rows = f->spec.shape.ndim ? f->spec.shape.dim[0] : 1;
    if (rows > 0) f->row_bytes = (size_t)mst_shape_count(f->spec.shape) / (size_t)rows * mst_dtype_size(f->spec.dtype);
    if (f->from->grain <= 0 || rows == 0) return frame_fill(f, 0, rows, 0);
    return mst_parallel(&(mst_kernel_args){.team = team}, rows, f->from->grain, frame_fill, f);
}

static mst_status feed(mst_frame *frame, int32_t n, const mst_device *device, mst_team *team, char *staging) {
    const mst_plan_node *node = &frame->plan->node[n];
    const mst_array array = mst_frame_array(frame, node->dst);
    const bool host = device->domain->type->host;
    filling f = {.from = &frame->feeds[node->port],
                 .spec = {.dtype = array.dtype, .shape = array.shape},
                 .dst = host ? array.data : staging + node->staging};
    const uint64_t errors = mst_error_count();
    mst_status status = mst_error_complete(fill_all(&f, team), errors);
    if (status) {
        mst_error_prefix("feeding '%s'", node->name);
        return status;
    }
    if (host) return MST_OK;
    if (array.dtype == MST_STRING) {
        int64_t copied;
        MST_TRY(mst_strings_receive(&frame->strings[device - frame->devices->device], device->domain, array.data,
                                    &mst_domain_host, f.dst, array.count, &copied));
        atomic_fetch_add(frame->copied, copied);
        return MST_OK;
    }
    mst_array filled = array;
    filled.data = f.dst;
    atomic_fetch_add(frame->copied, array.count * (int64_t)mst_dtype_size(array.dtype));
    return mst_domain_copy_array(device->domain, &array, &mst_domain_host, &filled, frame->deadline);
}

mst_status mst_frame_count(mst_frame *frame, int32_t value, int32_t counted_by, const mst_array *src, int64_t *out) {
    mst_domain *from = mst_plan_value_domain(frame->plan, value);
    int64_t rows;
    *out = src->count;
    if (counted_by < 0) return MST_OK;
    if (!from->type->host) atomic_fetch_add(frame->copied, (int64_t)sizeof rows);
    MST_TRY(mst_domain_copy(&mst_domain_host, &rows, from, mst_frame_array(frame, counted_by).data, sizeof rows));
    const int64_t most = src->shape.dim[0];
    *out = value == counted_by ? 1 + rows : most ? rows * (src->count / most) : 0;
    return MST_OK;
}

static mst_status receive(mst_frame *frame, int32_t n, int d) {
    const mst_plan_node *node = &frame->plan->node[n];
    const mst_device *device = &frame->devices->device[d];
    const mst_array src = mst_frame_array(frame, node->src[0]), dst = mst_frame_array(frame, node->dst);
    if (src.dtype == MST_STRING) {
        int64_t copied;
        const mst_status status =
            mst_strings_receive(&frame->strings[d], device->domain, dst.data,
                                mst_plan_value_domain(frame->plan, node->src[0]), src.data, src.count, &copied);
        atomic_fetch_add(frame->copied, copied);
        return status;
    }
    mst_array used = src;
    MST_TRY(mst_frame_count(frame, node->src[0], node->num_src > 1 ? node->src[1] : -1, &src, &used.count));
    atomic_fetch_add(frame->copied, used.count * (int64_t)mst_dtype_size(src.dtype));
    return mst_domain_copy_array(device->domain, &dst, mst_plan_value_domain(frame->plan, node->src[0]), &used,
                                 frame->deadline);
}

static mst_status fetch_strings(mst_frame *frame, mst_tensor *output, mst_domain *from, const void *src) {
    int64_t copied;
    const mst_status status = mst_strings_fetch(output, from, src, &copied);
    if (!from->type->host) atomic_fetch_add(frame->copied, copied);
    return status;
}

/* Copies the source of node N to the caller's tensor. HAPPENS: the device is behind the gate, where the deadline is
 * later. */
static mst_status fetch(mst_frame *frame, int32_t n, bool happens) {
    const mst_plan_node *node = &frame->plan->node[n];
    mst_tensor *output = frame->outputs ? frame->outputs[node->port] : NULL;
    if (!output) return MST_OK;
    const mst_array src = mst_frame_array(frame, node->src[0]);
    const mst_plan_value *root = &frame->plan->value[frame->plan->value[node->src[0]].root];
    mst_domain *from = mst_plan_value_domain(frame->plan, node->src[0]);
    if (src.dtype == MST_STRING && root->constant)
        return fetch_strings(frame, output, &mst_domain_host, mst_tensor_data(root->constant));
    if (src.dtype == MST_STRING) return fetch_strings(frame, output, from, src.data);
    if (root->constant) /* constants are in the host's memory too */
        return mst_domain_copy(&mst_domain_host, mst_tensor_data(output), &mst_domain_host,
                               mst_tensor_data(root->constant), mst_tensor_bytes(output));
    if (!from->type->host) atomic_fetch_add(frame->copied, (int64_t)mst_tensor_bytes(output));
    mst_array dst = src;
    dst.data = mst_tensor_data(output);
    return mst_domain_copy_array(&mst_domain_host, &dst, from, &src, happens ? frame->longer : frame->deadline);
}

/* Copies VALUE, a leaf of an exchange, to DST, the memory from which it is sent. */
static mst_status copy_leaf(mst_frame *frame, int32_t value, void *dst) {
    const mst_array src = mst_frame_array(frame, value);
    const mst_plan_value *root = &frame->plan->value[frame->plan->value[value].root];
    mst_domain *from = root->constant ? &mst_domain_host : mst_plan_value_domain(frame->plan, value);
    const bool whole = mst_plan_compiles(frame->plan, &frame->plan->node[root->node]);
    mst_array used = src, leaf = src;
    if (root->constant) used.data = mst_tensor_data(root->constant);
    if (used.data == dst) return MST_OK; /* it was computed in the memory of the exchange */
    leaf.data = dst;
    if (!whole) MST_TRY(mst_frame_count(frame, value, frame->plan->value[value].counted_by, &src, &used.count));
    if (!from->type->host) atomic_fetch_add(frame->copied, used.count * (int64_t)mst_dtype_size(src.dtype));
    return mst_domain_copy_array(&mst_domain_host, &leaf, from, &used, frame->deadline);
}

/* Starts an exchange with other tasks. */
static mst_status start_exchange(mst_frame *frame, int32_t n) {
    const mst_plan_node *node = &frame->plan->node[n];
    const mst_plan_exchange *planned = &frame->plan->exchange[node->port];
    const mst_bound_exchange *x = &frame->exchange[node->port];
    for (int32_t v = 0; v < planned->num_values; v++)
        for (int32_t l = 0; l < planned->num_leaves; l++)
            MST_TRY(copy_leaf(frame, node->src[v * planned->num_leaves + l], mst_bound_exchange_leaf(x, l, v)));
    if (node->port == frame->plan->vote) MST_TRY(mst_gate_prepare(frame));
    if (x->rows)
        mst_row_exchange_start(x->rows, frame->exchange_run);
    else
        mst_exchange_start(x->sums, frame->exchange_run);
    return MST_OK;
}

static mst_status await_exchange(mst_frame *frame, int32_t n) {
    const mst_bound_exchange *x = &frame->exchange[frame->plan->node[n].port];
    if (x->rows) return mst_row_exchange_wait(x->rows, frame->deadline);
    return mst_exchange_wait(x->sums, frame->deadline);
}

/* Notes that DEVICE stops behind the gate, in action AT of its program, because NODE has failed. The actions after AT
 * do not run. */
static void stop(mst_frame *frame, int device, int64_t at, int32_t node) {
    const mst_program *program = &frame->plan->program[device];
    int64_t call = program->num_calls, next = at, before = at;
    while (next < program->num_actions && program->action[next].kind != MST_DO_RUN) next++;
    if (next < program->num_actions) call = program->action[next].first;
    /* if the calls of action AT have begun, those before NODE are complete */
    while (next == at && frame->plan->instance[program->call[call]].node != node) call++;
    while (before > 0 && program->action[before - 1].kind != MST_DO_REACH) before--;
    frame->stop[device].call = call;
    atomic_store(&frame->stop[device].point, before ? program->action[before - 1].first : 0);
}

/* Completes the error of node N, because an op of the user may fail without a message. *ERRORS is the number of errors
 * before the node ran, and becomes the present number. */
static void complete(const mst_frame *frame, mst_status status, int32_t n, uint64_t *errors) {
    if (n >= 0 && mst_error_count() == *errors) {
        const mst_plan_node *node = &frame->plan->node[n];
        MST_FAIL(status, "%s '%s' failed (%s) without a message", node->op->name, node->name, mst_status_name(status));
    }
    mst_error_complete(status, *errors);
    *errors = mst_error_count();
}

/* How far a device has come in its program. */
struct mst_walk {
    int device;
    bool alone;    /* one thread walks for all devices: when this walk would wait, it goes on with another device */
    bool at_gate;  /* the device has arrived there */
    bool happens;  /* the device is behind the gate */
    bool ended;    /* it has come to the end of the program, or the frame has failed */
    int64_t next;  /* the next action */
    int64_t began; /* when the action began, if notes are taken */
    mst_team *team;
    mst_timeline *lines; /* by device */
};
typedef struct mst_walk walk;

/* Whether the thread walks for all devices and must go on with another device before ACTION. */
static bool would_wait(const mst_frame *frame, const walk *w, const mst_action *action) {
    if (!w->alone) return false;
    if (action->kind == MST_DO_WAIT)
        return mst_timeline_value(&w->lines[action->device]) < frame->base[action->device] + (uint64_t)action->first;
    return action->kind == MST_DO_GATE && w->at_gate && mst_gate_is_open(frame);
}

/* The node to name if ACTION fails; -1: none. */
static int32_t node_of(const mst_action *action) {
    switch (action->kind) {
        case MST_DO_FEED:
        case MST_DO_RECEIVE:
        case MST_DO_SEND:
        case MST_DO_FETCH:
        case MST_DO_START:
        case MST_DO_AWAIT: return action->first;
        default: return -1;
    }
}

/* Performs ACTION, which is not the gate. If it fails, *NODE is the node that failed. */
static mst_status act(mst_frame *frame, const walk *w, const mst_action *action, int32_t *node) {
    const mst_device *self = &frame->devices->device[w->device];
    mst_status status;
    switch (action->kind) {
        case MST_DO_WAIT: return wait_for(frame, w->device, action, w->lines, w->happens);
        case MST_DO_REACH:
            mst_timeline_advance(&w->lines[w->device], frame->base[w->device] + (uint64_t)action->first);
            return MST_OK;
        case MST_DO_FEED: return feed(frame, action->first, self, w->team, frame->binding->staging[w->device]);
        case MST_DO_RECEIVE:
            if (frame->plan->node[action->first].stream)
                return mst_session_part_receive(frame, action->first, w->device);
            return receive(frame, action->first, w->device);
        case MST_DO_SEND: return mst_session_part_send(frame, action->first);
        case MST_DO_FETCH: return fetch(frame, action->first, w->happens);
        case MST_DO_START: return start_exchange(frame, action->first);
        case MST_DO_AWAIT: return await_exchange(frame, action->first);
        default:
            status = self->type->backend->execute(frame->instance[w->device], action->first, action->end, frame);
            if (status) *node = atomic_load_explicit(&frame->at[w->device], memory_order_relaxed);
            return status;
    }
}

/* Walks the program of a device to its end or to the first failure. If one thread walks for all devices, it also stops
 * where it would wait. *NODE says which node failed, *DERIVED whether the cause was another device's failure. */
static mst_status go_on(mst_frame *frame, walk *w, int32_t *node, bool *derived) {
    const mst_program *program = &frame->plan->program[w->device];
    uint64_t errors = mst_error_count();
    for (; w->next < program->num_actions; w->next++) {
        const mst_action *action = &program->action[w->next];
        mst_status status = MST_OK;
        if (would_wait(frame, w, action)) return MST_OK;
        *node = node_of(action);
        *derived = action->kind == MST_DO_WAIT || (action->kind == MST_DO_RECEIVE && frame->plan->node[*node].stream) ||
                   reads_late(frame, action);
        if (action->kind != MST_DO_RUN && action->kind != MST_DO_REACH) /* -1: it waits for another device */
            atomic_store_explicit(&frame->at[w->device], *node, memory_order_relaxed);
        if (action->kind == MST_DO_GATE) {
            if (!w->at_gate) status = mst_frame_settle(frame, w->device, frame->deadline, node);
            if (!status && !w->at_gate) mst_gate_arrive(frame, w->device);
            w->at_gate = true;
            if (!status && would_wait(frame, w, action)) return MST_OK;
            if (!status && !(w->happens = mst_gate_wait(frame, w->device))) break; /* the frame has the cause */
        } else {
            status = act(frame, w, action, node);
        }
        if (status == MST_DEADLINE && reads_late(frame, action)) {
            status = name_late(frame, status, node);
            *derived = *node == action->first;
        }
        if (status == MST_NUMERICS && has_late_calls(frame)) *derived = true;
        if (frame->notes) w->began = mst_note_action(frame->notes, w->device, action, w->began);
        if (status) complete(frame, status, *node, &errors);
        if (status && w->happens && action->kind == MST_DO_FETCH) {
            mst_frame_fail(frame, status, *node, w->device, *derived);
            continue;
        }
        if (status && w->happens) stop(frame, w->device, w->next, *node);
        if (status) return status;
        if (w->happens) continue; /* behind the gate writes are completed even if the step has failed */
        if (atomic_load_explicit(&frame->failed, memory_order_relaxed)) break;
    }
    w->ended = true;
    return MST_OK;
}

static void keep_going(mst_frame *frame, walk *w) {
    int32_t node = -1;
    bool derived = false;
    const mst_status status = go_on(frame, w, &node, &derived);
    if (!status) return;
    mst_frame_fail(frame, status, node, w->device, derived);
    w->ended = true;
}

/* Advances the device's timeline to its last point, so that no device waits for this one any more, however its part
 * ended. */
static void end_walk(mst_frame *frame, const walk *w) {
    atomic_store_explicit(&frame->at[w->device], -1, memory_order_relaxed);
    mst_timeline_advance(&w->lines[w->device],
                         frame->base[w->device] + (uint64_t)frame->plan->program[w->device].num_points);
}

/* A call of NODE that DEVICE has started behind the gate has failed. Notes that the device stops at this call, unless
 * it has stopped before. All later calls of the device count as not complete, even if they do not need this call. */
static void stop_late(mst_frame *frame, int device, int32_t node) {
    const mst_program *program = &frame->plan->program[device];
    for (int64_t at = 0; at < program->num_actions; at++) {
        const mst_action *action = &program->action[at];
        for (int32_t call = action->first; action->kind == MST_DO_RUN && call < action->end; call++) {
            if (frame->plan->instance[program->call[call]].node != node) continue;
            if (call < frame->stop[device].call) stop(frame, device, at, node);
            return;
        }
    }
}

/* Waits for late calls: until the deadline for their errors, and then until they have ended, because they use the
 * memory of the frame. Behind the gate (HAPPENS) there is no deadline, because the calls write variables and must be
 * completed. */
static void settle(mst_frame *frame, int device, bool happens) {
    int32_t node;
    uint64_t errors = mst_error_count();
    const mst_status status = mst_frame_settle(frame, device, happens ? MST_NEVER : frame->deadline, &node);
    if (!status) return;
    complete(frame, status, node, &errors);
    if (happens) stop_late(frame, device, node);
    mst_frame_fail(frame, status, node, device, status == MST_DEADLINE && node < 0);
    if (mst_frame_settle(frame, device, MST_NEVER, &node)) {
        /* the frame has the error already */
    }
}

void mst_frame_run(mst_frame *frame, int device, mst_team *team, mst_timeline *lines) {
    walk w = {.device = device, .team = team, .lines = lines};
    /* The caller signals when the state may be read, or that the frame failed before it began. */
    if (!mst_timeline_wait(&frame->ready, frame->number, frame->deadline, frame->spin))
        mst_frame_fail(frame, MST_FAIL(MST_DEADLINE, "waited too long for the step to begin"), -1, device, true);
    if (frame->notes) w.began = mst_clock_now();
    mst_errand_set_stop(frame->asks);
    if (!atomic_load(&frame->failed)) keep_going(frame, &w);
    mst_errand_set_stop(NULL);
    settle(frame, device, w.happens);
    end_walk(frame, &w);
}

mst_status mst_frame_prepare_alone(mst_frame *frame) {
    const size_t count = (size_t)frame->devices->count;
    frame->own_lines = aligned_alloc(_Alignof(mst_timeline), count * sizeof *frame->own_lines);
    frame->walks = calloc(count, sizeof *frame->walks);
    return frame->own_lines && frame->walks ? MST_OK : MST_NO_MEMORY("for a session");
}

/* The loop always makes progress: every wait is for an earlier place in the common order of all nodes, so one of the
 * devices can always go on. */
void mst_frame_run_alone(mst_frame *frame, const int32_t *devices, int32_t num_devices) {
    int32_t left = 0;
    for (int32_t i = 0; i < num_devices; i++) {
        const int32_t d = devices[i];
        frame->base[d] = 0;
        memset(&frame->own_lines[d], 0, sizeof *frame->own_lines);
        frame->walks[i] = (walk){.device = d, .alone = true, .lines = frame->own_lines};
        if (frame->notes) frame->walks[i].began = mst_clock_now();
        left += !atomic_load(&frame->failed);
    }
    while (left > 0) {
        for (int32_t i = 0; i < num_devices; i++) {
            walk *w = &frame->walks[i];
            if (w->ended) continue;
            keep_going(frame, w);
            left -= w->ended;
            if (w->ended) end_walk(frame, w);
        }
    }
}

/* ---- first touch ---- */

/* Replaces a zero on each page by a zero: the page gets its place in memory by this first write. If another step has
 * already written to the page, the write does nothing. So even a device that was stuck may do this very late. */
static void touch(char *data, size_t bytes) {
    enum { PAGE = 4096 };
    for (size_t i = 0; i < bytes; i += PAGE) {
        char zero = 0;
        atomic_compare_exchange_strong_explicit((_Atomic char *)data + i, &zero, 0, memory_order_relaxed,
                                                memory_order_relaxed);
    }
}

void mst_frame_touch(mst_frame *frame, int device) {
    for (int64_t i = 0; i < frame->num_touches; i++)
        if (frame->touch[i].device == device) touch(frame->touch[i].data, frame->touch[i].bytes);
    mst_timeline_add(&frame->touched, 1);
}

/* ---- leaving ---- */

void mst_frame_leave(mst_frame *frame) {
    if (atomic_fetch_sub(&frame->remaining, 1) > 1) return;
    if (atomic_exchange(&frame->end, MST_ALL_LEFT) == MST_GIVEN_UP)
        frame->release(frame);
    else
        mst_timeline_advance(&frame->left, frame->number);
}

bool mst_frame_give_up(mst_frame *frame) {
    if (atomic_exchange(&frame->end, MST_GIVEN_UP) == MST_RUNNING) return true;
    /* This wait ends soon: the last device is between two statements of mst_frame_leave, where it waits for nothing. */
    mst_timeline_wait(&frame->left, frame->number, MST_NEVER, true);
    return false;
}
