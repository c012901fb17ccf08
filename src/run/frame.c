#include "run/frame.h"

#include <string.h>

#include "base/clock.h"
#include "base/reserve.h"

/* ---- failing and the gate ---- */

/* Decides, unless that has been done; returns what was decided. */
static int decide(mst_frame *frame, int decision) {
    int decided = MST_UNDECIDED;
    if (atomic_compare_exchange_strong(&frame->decision, &decided, decision)) {
        mst_line_advance(&frame->gate, frame->number);
        return decision;
    }
    return decided;
}

void mst_frame_fail(mst_frame *frame, mst_status status, int32_t node, int device, bool derived) {
    const mst_devices *devices = frame->devices;
    if (node >= 0 && !*mst_error()->node) mst_error_at(frame->plan->node[node].name, NULL);
    if (device >= 0) mst_error_at(NULL, devices->device[device].text);
    pthread_mutex_lock(&frame->lock);
    if (!frame->failure.code || (frame->failure.derived && !derived)) {
        mst_failure_keep(&frame->failure, status);
        frame->failure.derived = derived;
        frame->failure.step = frame->step.number;
        if (device >= 0)
            snprintf(frame->failure.device, sizeof frame->failure.device, "%s", devices->device[device].text);
    }
    pthread_mutex_unlock(&frame->lock);
    atomic_store(&frame->failed, true);
    decide(frame, MST_DOES_NOT);
}

bool mst_frame_stop(mst_frame *frame) {
    return decide(frame, MST_DOES_NOT) != MST_HAPPENS;
}

/* True where the step happens. The last device to come waits for those that still read the state, and decides. */
static bool pass_gate(mst_frame *frame, int device) {
    if (atomic_fetch_add(&frame->arrived, 1) + 1 == frame->participants) {
        const bool writes = frame->has_turn && !atomic_load(&frame->failed);
        mst_status status = writes ? mst_turn_write(&frame->turn, frame->deadline) : MST_OK;
        if (!status && writes) status = mst_reserve_renew();
        if (status) mst_frame_fail(frame, status, -1, device, false);
        return decide(frame, MST_HAPPENS) == MST_HAPPENS;
    }
    if (mst_line_wait(&frame->gate, frame->number, frame->deadline, frame->spin))
        return atomic_load(&frame->decision) == MST_HAPPENS;
    if (decide(frame, MST_DOES_NOT) == MST_HAPPENS) return true;
    mst_frame_fail(frame,
                   MST_FAIL(MST_DEADLINE,
                            "waited too long for the other devices to finish the step: one of them is "
                            "stuck, or the timeout is too short"),
                   -1, device, true);
    return false;
}

/* ---- actions ---- */

/* HAPPENS: DEVICE is behind the gate, and what it writes has to be written to the end. So a thread of a device waits
 * there as long as the other device needs: no caller waits for it without a deadline. A caller that runs the part of
 * device 0 waits as long again as before the gate. */
static mst_status wait_for(mst_frame *frame, int device, const mst_action *action, mst_line *lines, bool happens) {
    const mst_devices *devices = frame->devices;
    const uint64_t point = frame->base[action->device] + (uint64_t)action->first;
    const int64_t behind = device == 0 && frame->caller_runs ? frame->longer : MST_NEVER;
    const int64_t deadline = happens ? behind : frame->deadline;
    if (!mst_line_wait(&lines[action->device], point, deadline, frame->spin))
        return MST_FAIL(MST_DEADLINE, "waited too long for %s: it is stuck, or the timeout is too short",
                        devices->device[action->device].text);
    const bool is_there =
        happens ? action->first <= atomic_load(&frame->stop[action->device].point) : !atomic_load(&frame->failed);
    return is_there ? MST_OK : MST_FAIL(MST_CANCELLED, "another device failed");
}

static mst_array array_of(const mst_frame *frame, int32_t value) {
    mst_array array = mst_binding_array(frame->binding, value);
    const mst_plan_value *v = &frame->plan->value[value], *root = &frame->plan->value[v->root];
    if (root->space == MST_IN_FEED) array.data = (char *)mst_tensor_data(frame->feeds[root->index].tensor) + v->shift;
    return array;
}

/* A fed value that is being filled. */
typedef struct filling {
    const mst_feed *from;
    mst_spec spec;
    size_t row_bytes;
    char *dst;
} filling;

static mst_status fill(void *context, int64_t begin, int64_t end, int member) {
    const filling *f = context;
    mst_spec spec = f->spec;
    (void)member;
    if (spec.shape.ndim) spec.shape.dim[0] = end - begin;
    return f->from->fill(f->from->context, &spec, begin, f->dst + (size_t)begin * f->row_bytes);
}

static mst_status fill_all(filling *f, mst_team *team) {
    const int64_t rows = f->spec.shape.ndim ? f->spec.shape.dim[0] : 1;
    if (rows > 0) f->row_bytes = (size_t)mst_shape_count(f->spec.shape) / (size_t)rows * mst_dtype_size(f->spec.dtype);
    if (f->from->grain <= 0 || rows == 0) return fill(f, 0, rows, 0);
    return mst_parallel(&(mst_kernel_args){.team = team}, rows, f->from->grain, fill, f);
}

static mst_status feed(mst_frame *frame, int32_t n, const mst_device *device, mst_team *team, char *staging) {
    const mst_plan_node *node = &frame->plan->node[n];
    const mst_array array = array_of(frame, node->dst);
    const bool host = device->domain->type->host;
    filling f = {.from = &frame->feeds[node->port],
                 .spec = {.dtype = array.dtype, .shape = array.shape},
                 .dst = host ? array.data : staging};
    const uint64_t errors = mst_error_count();
    mst_status status = mst_error_complete(fill_all(&f, team), errors);
    if (status) {
        mst_error_prefix("feeding '%s'", node->name);
        return status;
    }
    if (host) return MST_OK;
    const size_t bytes = (size_t)array.count * mst_dtype_size(array.dtype);
    atomic_fetch_add(frame->copied, (int64_t)bytes);
    return mst_domain_copy(device->domain, array.data, &mst_domain_host, staging, bytes);
}

/* How many elements of SRC, the first source of a receive, there are: its second source begins with the number of rows,
 * where they are counted. */
static mst_status count_elements(mst_frame *frame, const mst_plan_node *node, const mst_array *src, int64_t *out) {
    mst_domain *from = mst_plan_value_domain(frame->plan, node->src[0]);
    int64_t rows;
    *out = src->count;
    if (node->num_src == 1) return MST_OK;
    if (!from->type->host) atomic_fetch_add(frame->copied, (int64_t)sizeof rows);
    MST_TRY(mst_domain_copy(&mst_domain_host, &rows, from, array_of(frame, node->src[1]).data, sizeof rows));
    const int64_t most = src->shape.dim[0];
    *out = node->src[0] == node->src[1] ? 1 + rows : most ? rows * (src->count / most) : 0;
    return MST_OK;
}

static mst_status receive(mst_frame *frame, int32_t n, int d) {
    const mst_plan_node *node = &frame->plan->node[n];
    const mst_device *device = &frame->devices->device[d];
    const mst_array src = array_of(frame, node->src[0]), dst = array_of(frame, node->dst);
    if (src.dtype == MST_STRING) {
        int64_t copied;
        const mst_status status =
            mst_strings_receive(&frame->strings[d], device->domain, dst.data,
                                mst_plan_value_domain(frame->plan, node->src[0]), src.data, src.count, &copied);
        atomic_fetch_add(frame->copied, copied);
        return status;
    }
    int64_t count;
    MST_TRY(count_elements(frame, node, &src, &count));
    const size_t bytes = (size_t)count * mst_dtype_size(src.dtype);
    atomic_fetch_add(frame->copied, (int64_t)bytes);
    return mst_domain_copy(device->domain, dst.data, mst_plan_value_domain(frame->plan, node->src[0]), src.data, bytes);
}

static mst_status fetch_strings(mst_frame *frame, mst_tensor *output, mst_domain *from, const void *src) {
    int64_t copied;
    const mst_status status = mst_strings_fetch(output, from, src, &copied);
    if (!from->type->host) atomic_fetch_add(frame->copied, copied);
    return status;
}

static mst_status fetch(mst_frame *frame, int32_t n) {
    const mst_plan_node *node = &frame->plan->node[n];
    mst_tensor *output = frame->outputs ? frame->outputs[node->port] : NULL;
    if (!output) return MST_OK;
    const mst_array src = array_of(frame, node->src[0]);
    const mst_plan_value *root = &frame->plan->value[frame->plan->value[node->src[0]].root];
    mst_domain *from = mst_plan_value_domain(frame->plan, node->src[0]);
    if (src.dtype == MST_STRING && root->constant)
        return fetch_strings(frame, output, &mst_domain_host, mst_tensor_data(root->constant));
    if (src.dtype == MST_STRING) return fetch_strings(frame, output, from, src.data);
    if (root->constant) /* constants are in the host's memory too */
        return mst_domain_copy(&mst_domain_host, mst_tensor_data(output), &mst_domain_host,
                               mst_tensor_data(root->constant), mst_tensor_bytes(output));
    if (!from->type->host) atomic_fetch_add(frame->copied, (int64_t)mst_tensor_bytes(output));
    return mst_domain_copy(&mst_domain_host, mst_tensor_data(output), from, src.data, mst_tensor_bytes(output));
}

/* DEVICE stops behind the gate, in action AT of its program, where NODE has failed: what comes then is not made. */
static void stop(mst_frame *frame, int device, int64_t at, int32_t node) {
    const mst_program *program = &frame->plan->program[device];
    int64_t call = program->num_calls, next = at, before = at;
    while (next < program->num_actions && program->action[next].kind != MST_DO_RUN) next++;
    if (next < program->num_actions) call = program->action[next].first;
    while (next == at && frame->plan->instance[program->call[call]].node != node) call++;
    while (before > 0 && program->action[before - 1].kind != MST_DO_REACH) before--;
    frame->stop[device].call = call;
    atomic_store(&frame->stop[device].point, before ? program->action[before - 1].first : 0);
}

/* An op of the user may fail without a message; *ERRORS is how many there were before it ran. */
static void complete(const mst_frame *frame, mst_status status, int32_t n, uint64_t *errors) {
    if (n >= 0 && mst_error_count() == *errors) {
        const mst_plan_node *node = &frame->plan->node[n];
        MST_FAIL(status, "%s '%s' failed (%s) without a message", node->op->name, node->name, mst_status_name(status));
    }
    mst_error_complete(status, *errors);
    *errors = mst_error_count();
}

/* Walks the program of DEVICE to its end or to the first failure: *NODE says where that was, *DERIVED whether it only
 * follows from the failure of another device. Behind the gate a fetch that fails stops nothing. */
static mst_status walk(mst_frame *frame, int device, mst_team *team, mst_line *lines, int32_t *node, bool *derived) {
    const mst_program *program = &frame->plan->program[device];
    const mst_device *self = &frame->devices->device[device];
    const mst_backend *backend = self->type->backend;
    mst_run_notes *notes = frame->notes;
    int64_t began = notes ? mst_clock_now() : 0;
    bool happens = false;
    uint64_t errors = mst_error_count();
    for (int64_t i = 0; i < program->num_actions; i++) {
        const mst_action *action = &program->action[i];
        mst_status status = MST_OK;
        *node = action->kind == MST_DO_FEED || action->kind == MST_DO_RECEIVE || action->kind == MST_DO_FETCH
                    ? action->first
                    : -1;
        *derived = action->kind == MST_DO_WAIT;
        if (action->kind != MST_DO_RUN && action->kind != MST_DO_REACH) /* -1: it waits for others */
            atomic_store_explicit(&frame->at[device], *node, memory_order_relaxed);
        switch (action->kind) {
            case MST_DO_RUN:
                status = backend->execute(frame->instance[device], action->first, action->end, frame);
                if (status) *node = atomic_load_explicit(&frame->at[device], memory_order_relaxed);
                break;
            case MST_DO_WAIT: status = wait_for(frame, device, action, lines, happens); break;
            case MST_DO_REACH: mst_line_advance(&lines[device], frame->base[device] + (uint64_t)action->first); break;
            case MST_DO_FEED: status = feed(frame, action->first, self, team, frame->binding->staging[device]); break;
            case MST_DO_RECEIVE: status = receive(frame, action->first, device); break;
            case MST_DO_FETCH: status = fetch(frame, action->first); break;
            case MST_DO_GATE:
                if (!pass_gate(frame, device)) return MST_OK; /* the cause is kept */
                happens = true;
                break;
        }
        if (notes) began = mst_note_action(notes, device, action, began);
        if (status) complete(frame, status, *node, &errors);
        if (status && happens && action->kind == MST_DO_FETCH) {
            mst_frame_fail(frame, status, *node, device, false);
            continue;
        }
        if (status && happens) stop(frame, device, i, *node);
        if (status) return status;
        if (happens) continue; /* a step that has failed is not worth finishing, but what is being written is */
        if (atomic_load_explicit(&frame->failed, memory_order_relaxed)) return MST_OK;
    }
    return MST_OK;
}

void mst_frame_run(mst_frame *frame, int device, mst_team *team, mst_line *lines) {
    int32_t node = -1;
    bool derived = false;
    /* the caller says when the state may be read, or that the frame has failed before it began */
    if (!mst_line_wait(&frame->ready, frame->number, frame->deadline, frame->spin))
        mst_frame_fail(frame, MST_FAIL(MST_DEADLINE, "waited too long for the step to begin"), -1, device, true);
    if (!atomic_load(&frame->failed)) {
        mst_status status = walk(frame, device, team, lines, &node, &derived);
        if (status) mst_frame_fail(frame, status, node, device, derived);
    }
    atomic_store_explicit(&frame->at[device], -1, memory_order_relaxed);
    /* however it ended, no device waits for this one any more */
    mst_line_advance(&lines[device], frame->base[device] + (uint64_t)frame->plan->program[device].num_points);
}

/* ---- first touch ---- */

/* A page gets its place in memory when it is first written. Where another step has written it already, this changes
 * nothing: a device that was stuck may come very late. */
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
    mst_line_add(&frame->touched, 1);
}

/* ---- leaving ---- */

void mst_frame_leave(mst_frame *frame) {
    if (atomic_fetch_sub(&frame->remaining, 1) > 1) return;
    if (atomic_exchange(&frame->end, MST_ALL_LEFT) == MST_GIVEN_UP)
        frame->release(frame);
    else
        mst_line_advance(&frame->left, frame->number);
}

bool mst_frame_give_up(mst_frame *frame) {
    if (atomic_exchange(&frame->end, MST_GIVEN_UP) == MST_RUNNING) return true;
    /* ends: the last device is between the two statements of mst_frame_leave, where it waits for nothing */
    mst_line_wait(&frame->left, frame->number, MST_NEVER, true);
    return false;
}
