/* The messages of a run between its parts. A message is a value that crosses from one task to another, a signal that a
 * node is done, or, on stream 0, the number of the step. A message may arrive before its run is submitted here. It is
 * kept until it is received or its run is over. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "run/part_inside.h"

/* ---- messages that have arrived ---- */

mst_status mst_session_part_create(const mst_session_part_options *options, mst_session_part **out) {
    mst_session_part *part = calloc(1, sizeof *part);
    if (!part) return MST_NO_MEMORY("for a session");
    part->host = options->host;
    pthread_mutex_init(&part->lock, NULL);
    pthread_mutex_init(&part->running, NULL);
    mst_condition_init(&part->changed);
    *out = part;
    return MST_OK;
}

/* Frees the messages of runs before BEFORE. */
static void drop_messages(mst_session_part *part, uint64_t before) {
    for (int b = 0; b < MST_PART_BINS; b++)
        for (mst_session_part_message **at = &part->bin[b]; *at;) {
            mst_session_part_message *message = *at;
            if (message->run < before) {
                *at = message->next;
                free(message);
            } else {
                at = &message->next;
            }
        }
}

void mst_session_part_destroy(mst_session_part *part) {
    if (!part) return;
    drop_messages(part, UINT64_MAX);
    pthread_mutex_destroy(&part->lock);
    pthread_mutex_destroy(&part->running);
    pthread_cond_destroy(&part->changed);
    free(part);
}

void mst_session_part_begin_run(mst_session_part *part, mst_frame *frame) {
    pthread_mutex_lock(&part->running);
    part->frame = frame;
    pthread_mutex_lock(&part->lock);
    part->last = frame->part_run;
    drop_messages(part, part->last);
    pthread_mutex_unlock(&part->lock);
    pthread_mutex_unlock(&part->running);
}

void mst_session_part_end_run(mst_session_part *part) {
    pthread_mutex_lock(&part->running);
    part->frame = NULL;
    pthread_mutex_lock(&part->lock);
    drop_messages(part, part->last + 1);
    pthread_mutex_unlock(&part->lock);
    pthread_mutex_unlock(&part->running);
}

void mst_session_part_wake(mst_session_part *part) {
    pthread_mutex_lock(&part->lock);
    pthread_cond_broadcast(&part->changed);
    pthread_mutex_unlock(&part->lock);
}

/* Keeps a message, unless its run is over. */
static void keep_message(mst_session_part *part, mst_session_part_message *message) {
    mst_session_part_message **bin = &part->bin[(uint32_t)message->stream % MST_PART_BINS];
    pthread_mutex_lock(&part->lock);
    if (message->run >= part->last) {
        message->next = *bin;
        *bin = message;
        message = NULL;
        pthread_cond_broadcast(&part->changed);
    }
    pthread_mutex_unlock(&part->lock);
    free(message);
}

static mst_session_part_message *take_message(mst_session_part *part, uint64_t run, int32_t from, int32_t stream) {
    for (mst_session_part_message **at = &part->bin[stream % MST_PART_BINS]; *at; at = &(*at)->next) {
        mst_session_part_message *message = *at;
        if (message->run != run || message->stream != stream || message->from != from) continue;
        *at = message->next;
        return message;
    }
    return NULL;
}

/* Waits for message STREAM of part FROM. The caller frees the message. */
static mst_status await_message(mst_frame *frame, int32_t from, int32_t stream, mst_session_part_message **out) {
    mst_session_part *part = frame->part;
    mst_status status = MST_OK;
    pthread_mutex_lock(&part->lock);
    while (!status && !(*out = take_message(part, frame->part_run, from, stream))) {
        const int64_t left = frame->deadline - mst_clock_now();
        if (atomic_load(&frame->failed)) {
            status = MST_FAIL(MST_CANCELLED, "another device failed");
        } else if (left <= 0) {
            status = MST_FAIL(MST_DEADLINE, "waited too long for a value of another task");
        } else {
            const struct timespec until = mst_clock_timespec(left < 1000000000 ? left : 1000000000);
            pthread_cond_timedwait(&part->changed, &part->lock, &until);
        }
    }
    pthread_mutex_unlock(&part->lock);
    return status;
}

mst_status mst_session_part_receive_message(mst_session_part *part, int32_t from, uint64_t run, int32_t stream,
                                            const void *data, size_t bytes) {
    mst_session_part_message *message = malloc(sizeof *message + bytes + 1);
    if (!message) return MST_NO_MEMORY("for a value of %zu bytes from another task", bytes);
    *message = (mst_session_part_message){.run = run, .from = from, .stream = stream, .bytes = bytes};
    if (bytes) memcpy(message->data, data, bytes);
    keep_message(part, message);
    return MST_OK;
}

/* ---- values ---- */

static mst_status send_bytes(const mst_frame *frame, int32_t to, int32_t stream, const void *data, size_t bytes) {
    const struct iovec piece = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    const mst_session_part_host *host = &frame->part->host;
    return host->send(host->context, to, frame->part_run, stream, &piece, bytes > 0);
}

/* Sends memory of a domain that the host cannot read. */
static mst_status send_copy(const mst_frame *frame, const mst_plan_node *node, mst_domain *from, const mst_array *src) {
    const size_t bytes = (size_t)src->count * mst_dtype_size(src->dtype);
    mst_array copy = *src;
    copy.data = malloc(bytes + 1);
    if (!copy.data) return MST_NO_MEMORY("for a value of %zu bytes that another task needs", bytes);
    mst_status status = mst_domain_copy_array(&mst_domain_host, &copy, from, src, frame->deadline);
    if (!status) status = send_bytes(frame, node->peer, node->stream, copy.data, bytes);
    free(copy.data);
    return status;
}

static mst_status send_strings(const mst_frame *frame, const mst_plan_node *node, mst_domain *from,
                               const mst_array *src) {
    char *message;
    size_t bytes;
    MST_TRY(mst_strings_pack(from, src->data, src->count, &message, &bytes));
    const mst_status status = send_bytes(frame, node->peer, node->stream, message, bytes);
    free(message);
    return status;
}

mst_status mst_session_part_send(mst_frame *frame, int32_t n) {
    const mst_plan_node *node = &frame->plan->node[n];
    if (node->num_src == 0) return send_bytes(frame, node->peer, node->stream, NULL, 0);
    mst_domain *from = mst_plan_value_domain(frame->plan, node->src[0]);
    const mst_array src = mst_frame_array(frame, node->src[0]);
    if (src.dtype == MST_STRING) return send_strings(frame, node, from, &src);
    mst_array used = src;
    MST_TRY(mst_frame_count(frame, node->src[0], node->num_src > 1 ? node->src[1] : -1, &src, &used.count));
    const size_t bytes = (size_t)used.count * mst_dtype_size(src.dtype);
    atomic_fetch_add(frame->copied, (int64_t)bytes);
    if (from == &mst_domain_host) return send_bytes(frame, node->peer, node->stream, src.data, bytes);
    return send_copy(frame, node, from, &used);
}

/* Checks the size of a received value. If only some of its rows are in use, only these rows were sent. */
static mst_status check_size(const mst_array *dst, size_t bytes) {
    const int64_t rows = dst->shape.ndim ? dst->shape.dim[0] : 1;
    const size_t all = (size_t)dst->count * mst_dtype_size(dst->dtype), row = rows > 0 ? all / (size_t)rows : 0;
    if (bytes == all || (bytes < all && row && bytes % row == 0)) return MST_OK;
    return MST_FAIL(MST_INVALID, "a value that has come from another task has %zu bytes, and should have %zu", bytes,
                    all);
}

static mst_status take_value(mst_frame *frame, int32_t n, int device, const mst_session_part_message *message) {
    const mst_plan_node *node = &frame->plan->node[n];
    mst_domain *domain = frame->devices->device[device].domain;
    if (node->num_dst == 0) return MST_OK; /* a signal */
    const mst_array dst = mst_frame_array(frame, node->dst);
    atomic_fetch_add(frame->copied, (int64_t)message->bytes);
    if (dst.dtype == MST_STRING)
        return mst_strings_unpack(&frame->strings[device], domain, dst.data, message->data, message->bytes, dst.count);
    MST_TRY(check_size(&dst, message->bytes));
    mst_array sent = dst;
    sent.data = (void *)(uintptr_t)message->data;
    sent.count = (int64_t)(message->bytes / mst_dtype_size(dst.dtype));
    return mst_domain_copy_array(domain, &dst, &mst_domain_host, &sent, frame->deadline);
}

mst_status mst_session_part_receive(mst_frame *frame, int32_t n, int device) {
    const mst_plan_node *node = &frame->plan->node[n];
    mst_session_part_message *message;
    MST_TRY(await_message(frame, node->peer, node->stream, &message));
    const mst_status status = take_value(frame, n, device, message);
    free(message);
    return status;
}

/* ---- the number of the step ---- */

mst_status mst_session_part_share_step(mst_frame *frame, int32_t owner) {
    const int32_t self = frame->devices->self;
    mst_session_part_message *message;
    if (owner == self) {
        for (int32_t t = 0; t < frame->devices->num_tasks; t++)
            if (t != self && frame->plan->runs_on[t])
                MST_TRY(send_bytes(frame, t, 0, &frame->step.number, sizeof frame->step.number));
        return MST_OK;
    }
    MST_TRY(await_message(frame, owner, 0, &message));
    const bool right = message->bytes == sizeof frame->step.number;
    if (right) memcpy(&frame->step.number, message->data, sizeof frame->step.number);
    free(message);
    return right ? MST_OK : MST_FAIL(MST_INVALID, "the number of the step has come in another size");
}

void mst_session_part_vote(mst_frame *frame) {
    const mst_session_part_host *host = &frame->part->host;
    host->vote(host->context, frame->part_run);
}
