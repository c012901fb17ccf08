#include "transport/mpi.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "module/module.h"
#include "transport/mailbox.h"
#include "transport/mpi_engine.h"
#include "transport/mpi_meeting.h"
#include "transport/open_options.h"

/* A large message that is on offer, or being sent. */
typedef struct sending {
    struct sending *next;
    mst_transport *transport;
    uint64_t number;
    uint32_t generation;
    int32_t to;
    mst_timeline *done;
    void *copy; /* of the bytes, if there are too many pieces; else NULL */
    bool taken;
    int num_jobs, left; /* left: jobs that have not ended */
    mst_mpi_job job[];  /* one per piece */
} sending;

struct mst_transport {
    mst_open_options options;
    mst_transport_events owner;
    mst_event_thread *events; /* of the mailbox */
    mst_mailbox *mailbox;
    mst_transport *control;
    mst_mpi_client client;
    mst_mpi_meeting *meeting; /* NULL: a launcher starts MPI */
    bool left;                /* all tasks have left: MPI may end */
    atomic_bool gone;         /* a task was lost */
    /* MPI cannot be used: a generation has begun after a loss, and the process that replaces the lost one is not part
     * of this MPI */
    atomic_bool is_useless;
    pthread_mutex_t telling; /* held while the owner is called: one call at a time */
    pthread_mutex_t lock;    /* guards all members after it */
    pthread_cond_t changed;  /* the number of messages to send has dropped */
    uint64_t floor;          /* generations below it are over */
    uint32_t present;        /* the generation that was begun last */
    sending *first;
};

#define NO_RETURN "MPI cannot take it back: start the job again, which goes on from its last checkpoint if it has any"

static const mst_transport_type *control_type;
/* Messages sent by all transports of this process. The count numbers messages: an answer to a closed transport must not
 * be taken for an answer to the next one. */
static _Atomic uint64_t num_sent;
static const double GONE_SECONDS = 0.2; /* time for sending the last messages if a task is gone */

/* ---- events of the control transport, passed on to the owner ---- */

static void pass_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    mst_transport *t = context;
    if (t->meeting && mst_mpi_meeting_received(t->meeting, from, instance, data, bytes)) return;
    pthread_mutex_lock(&t->telling);
    t->owner.control(t->owner.context, from, instance, data, bytes);
    pthread_mutex_unlock(&t->telling);
}

static void pass_connected(void *context, int32_t task) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->telling);
    t->owner.connected(t->owner.context, task);
    pthread_mutex_unlock(&t->telling);
}

static void pass_lost(void *context, int32_t task, uint64_t instance, const char *why) {
    mst_transport *t = context;
    if (instance) atomic_store(&t->gone, true);
    pthread_mutex_lock(&t->telling);
    t->owner.lost(t->owner.context, task, instance, why);
    pthread_mutex_unlock(&t->telling);
}

static void pass_taken(void *context, int32_t by, int32_t task, const char *where) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->telling);
    if (t->owner.taken) t->owner.taken(t->owner.context, by, task, where);
    pthread_mutex_unlock(&t->telling);
}

static void pass_list_mismatch(void *context, int32_t task, const char *why) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->telling);
    if (t->owner.list_mismatch) t->owner.list_mismatch(t->owner.context, task, why);
    pthread_mutex_unlock(&t->telling);
}

static void pass_stranger(void *context, const char *line) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->telling);
    if (t->owner.stranger) t->owner.stranger(t->owner.context, line);
    pthread_mutex_unlock(&t->telling);
}

static void pass_mismatch(void *context, int32_t task, mst_key key, const char *why) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->telling);
    t->owner.mismatch(t->owner.context, task, key, why);
    pthread_mutex_unlock(&t->telling);
}

static void tell_broken(void *context, const char *why) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->telling);
    if (t->owner.broken) t->owner.broken(t->owner.context, why);
    pthread_mutex_unlock(&t->telling);
}

/* The events of the control transport. The mailbox uses only `mismatch`. */
static mst_transport_events passing(mst_transport *t) {
    return (mst_transport_events){.context = t,
                                  .control = pass_control,
                                  .connected = pass_connected,
                                  .lost = pass_lost,
                                  .mismatch = pass_mismatch,
                                  .taken = pass_taken,
                                  .list_mismatch = pass_list_mismatch,
                                  .stranger = pass_stranger};
}

/* ---- sending large messages ---- */

/* Takes S off the list, and gives its memory back to the program. Under the lock. */
static void remove_sending(mst_transport *t, sending *s) {
    sending **at = &t->first;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    if (s->done) mst_timeline_add(s->done, 1);
    free(s->copy);
    free(s);
    pthread_cond_broadcast(&t->changed);
}

static sending *find_sending(mst_transport *t, uint64_t number) {
    sending *s = t->first;
    while (s && s->number != number) s = s->next;
    return s;
}

static void piece_sent(mst_mpi_job *job, bool whole) {
    sending *s = job->context;
    mst_transport *t = s->transport;
    (void)whole; /* if not all bytes have moved, the generation ends anyway: nothing else is to be done */
    pthread_mutex_lock(&t->lock);
    if (--s->left == 0) remove_sending(t, s);
    pthread_mutex_unlock(&t->lock);
}

/* The number of MPI messages for BYTES. */
static int jobs_for(size_t bytes) {
    return (int)((bytes + MST_MPI_MOST - 1) / MST_MPI_MOST);
}

static int add_jobs(mst_mpi_job *job, int n, char *data, size_t bytes) {
    for (size_t at = 0; at < bytes; n++) {
        const size_t part = bytes - at < MST_MPI_MOST ? bytes - at : MST_MPI_MOST;
        job[n] = (mst_mpi_job){.data = data + at, .bytes = part};
        at += part;
    }
    return n;
}

/* A copy of the pieces, one after the other. */
static char *copy_pieces(const mst_iov *piece, int n, size_t bytes) {
    char *copy = malloc(bytes);
    for (size_t i = 0, at = 0; copy && i < (size_t)n; at += piece[i++].bytes)
        if (piece[i].bytes) memcpy(copy + at, piece[i].data, piece[i].bytes);
    return copy;
}

static sending *make_sending(const mst_iov *piece, int n, size_t bytes) {
    int64_t count = 0;
    for (int i = 0; i < n; i++) count += jobs_for(piece[i].bytes);
    const bool copies = count > MST_MPI_PIECES;
    if (copies) count = jobs_for(bytes);
    sending *s = calloc(1, sizeof *s + (size_t)count * sizeof *s->job);
    char *copy = s && copies ? copy_pieces(piece, n, bytes) : NULL;
    if (!s || (copies && !copy)) {
        free(s);
        return NULL;
    }
    s->copy = copy;
    if (copies) s->num_jobs = add_jobs(s->job, 0, copy, bytes);
    for (int i = 0; i < n && !copies; i++)
        s->num_jobs = add_jobs(s->job, s->num_jobs, (char *)(uintptr_t)piece[i].data, piece[i].bytes);
    return s;
}

static mst_mpi_packet *make_offer(const mst_transport *t, const sending *s, mst_key key, size_t bytes) {
    mst_mpi_packet *p = mst_mpi_packet_create(MST_MPI_OFFER, &t->client, s->to, (size_t)s->num_jobs * sizeof(uint64_t));
    if (!p) return NULL;
    p->key = key;
    p->number = s->number;
    p->total = bytes;
    for (int i = 0; i < s->num_jobs; i++) p->size[i] = s->job[i].bytes;
    return p;
}

/* Offers a large message to task TO (OFFER), and keeps it until TO takes or refuses it. Under the lock. */
static mst_status offer(mst_transport *t, int32_t to, mst_key key, const mst_iov *piece, int n, size_t bytes,
                        mst_timeline *done) {
    sending *s = make_sending(piece, n, bytes);
    mst_mpi_packet *p = NULL;
    if (s) {
        s->transport = t;
        s->number = atomic_fetch_add(&num_sent, 1) + 1;
        s->generation = key.generation;
        s->to = to;
        s->done = done;
        p = make_offer(t, s, key, bytes);
    }
    if (!p) {
        if (s) free(s->copy);
        free(s);
        return MST_NO_MEMORY("for a message");
    }
    s->next = t->first;
    t->first = s;
    mst_mpi_send(&t->client, p);
    return MST_OK;
}

static mst_status send_small(mst_transport *t, int32_t to, mst_key key, const mst_iov *piece, int n, size_t bytes,
                             mst_timeline *done) {
    mst_mpi_packet *p = mst_mpi_packet_create(MST_MPI_SMALL, &t->client, to, bytes);
    if (!p) return MST_NO_MEMORY("for a message");
    p->key = key;
    for (size_t i = 0, at = 0; i < (size_t)n; at += piece[i++].bytes)
        if (piece[i].bytes) memcpy(p->bytes + at, piece[i].data, piece[i].bytes);
    mst_mpi_send(&t->client, p);
    if (done) mst_timeline_add(done, 1);
    return MST_OK;
}

static bool is_one_gone(void *context) {
    mst_transport *t = context;
    return atomic_load(&t->gone);
}

static mst_status check_mpi(mst_transport *t) {
    if (!atomic_load(&t->is_useless) && !mst_mpi_is_over()) return MST_OK;
    return MST_FAIL(MST_UNAVAILABLE, "a task was lost: " NO_RETURN);
}

static mst_status mpi_send(mst_transport *t, int32_t to, mst_key key, const mst_iov *piece, int n, mst_timeline *done) {
    size_t bytes = 0;
    mst_status status = MST_OK;
    MST_TRY(mst_check_peer(&t->options, to));
    for (int i = 0; i < n; i++) bytes += piece[i].bytes;
    pthread_mutex_lock(&t->lock);
    const bool over = key.generation < t->floor;
    if (over && done) mst_timeline_add(done, 1);
    if (!over) status = check_mpi(t);
    if (!status && !over && bytes <= MST_MPI_BYTES)
        status = send_small(t, to, key, piece, n, bytes, done);
    else if (!status && !over)
        status = offer(t, to, key, piece, n, bytes, done);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* The receiver has asked for the pieces of a message (TAKE) and waits for them: sends them. If this task has dropped
 * the message meanwhile, tells the receiver not to wait. */
static void take_taken(mst_transport *t, const mst_mpi_packet *p) {
    pthread_mutex_lock(&t->lock);
    sending *s = find_sending(t, p->number);
    if (s) {
        s->taken = true;
        s->left = s->num_jobs;
    }
    pthread_mutex_unlock(&t->lock);
    mst_mpi_packet *dropped = s ? NULL : mst_mpi_packet_create(MST_MPI_DROPPED, &t->client, p->from, 0);
    if (dropped) {
        dropped->tag = p->tag;
        mst_mpi_send(&t->client, dropped);
    }
    const int n = s ? s->num_jobs : 0; /* S may be freed once its last job is submitted */
    for (int i = 0; i < n; i++) {
        mst_mpi_job *job = &s->job[i];
        job->rank = mst_mpi_rank(&t->client, p->from);
        job->tag = p->tag;
        job->done = piece_sent;
        job->context = s;
        mst_mpi_submit(job);
    }
}

static void take_refused(mst_transport *t, const mst_mpi_packet *p) {
    pthread_mutex_lock(&t->lock);
    sending *s = find_sending(t, p->number);
    if (s && !s->taken) remove_sending(t, s);
    pthread_mutex_unlock(&t->lock);
}

/* ---- receiving large messages ---- */

/* A message that its sender offers, and later fetches. */
typedef struct offered {
    mst_transport *transport;
    int32_t from;
    uint64_t number;
    mst_fetched *where;
    bool whole;
    atomic_int left; /* jobs that have not ended */
    int num_jobs;
    mst_mpi_job job[]; /* with the sizes of the pieces */
} offered;

static void piece_received(mst_mpi_job *job, bool whole) {
    offered *o = job->context;
    if (!whole) o->whole = false; /* jobs end one after another */
    if (atomic_fetch_sub(&o->left, 1) > 1) return;
    mst_mailbox_fetched(o->transport->mailbox, o->where, o->whole);
    free(o);
}

static void answer(const offered *o, mst_mpi_kind kind, int tag) {
    const mst_mpi_client *client = &o->transport->client;
    mst_mpi_packet *p = mst_mpi_packet_create(kind, client, o->from, 0);
    if (!p) return; /* no memory: the sender keeps the message until the generation ends */
    p->number = o->number;
    p->tag = tag;
    mst_mpi_send(client, p);
}

/* Submits the receives before it asks the sender for the pieces, so that MPI can put them into place at once. */
static void fetch(void *source, void *into, mst_fetched *where) {
    offered *o = source;
    const mst_mpi_client *client = &o->transport->client;
    const offered asked = {.transport = o->transport, .from = o->from, .number = o->number};
    const int tag = mst_mpi_tag(), n = o->num_jobs, rank = mst_mpi_rank(client, o->from);
    char *at = into;
    o->where = where;
    o->whole = true;
    o->left = n;
    for (int i = 0; i < n; i++) { /* O may be freed once its last job is submitted */
        mst_mpi_job *job = &o->job[i];
        job->receives = true;
        job->rank = rank;
        job->tag = tag;
        job->data = at;
        job->done = piece_received;
        job->context = o;
        at += job->bytes;
        mst_mpi_submit(job);
    }
    answer(&asked, MST_MPI_TAKE, tag);
}

static void refuse(void *source) {
    answer(source, MST_MPI_REFUSE, 0);
    free(source);
}

/* Reads an OFFER. NULL if P is not valid, or if there is no memory. */
static offered *read_offer(mst_transport *t, const mst_mpi_packet *p) {
    const size_t n = p->num_bytes / sizeof(uint64_t);
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (p->size[i] == 0 || p->size[i] > MST_MPI_MOST) return NULL;
        total += p->size[i];
    }
    offered *o = n && total == p->total ? calloc(1, sizeof *o + n * sizeof *o->job) : NULL;
    if (!o) return NULL;
    o->transport = t;
    o->from = p->from;
    o->number = p->number;
    o->num_jobs = (int)n;
    for (size_t i = 0; i < n; i++) o->job[i].bytes = p->size[i];
    return o;
}

static const char *take_offer(mst_transport *t, const mst_mpi_packet *p) {
    const mst_mailbox_part part = {.from = p->from, .key = p->key, .total = p->total, .bytes = p->total};
    offered *o = read_offer(t, p);
    return o ? mst_mailbox_announce(t->mailbox, &part, fetch, refuse, o) : "no memory for what it sent";
}

static const char *take_small(mst_transport *t, const mst_mpi_packet *p) {
    const mst_mailbox_part part = {
        .from = p->from, .key = p->key, .total = p->num_bytes, .bytes = p->num_bytes, .data = p->bytes};
    return mst_mailbox_deliver(t->mailbox, &part, NULL, NULL);
}

static void take_packet(void *context, const mst_mpi_packet *p) {
    mst_transport *t = context;
    const char *why = NULL;
    switch ((mst_mpi_kind)p->kind) {
        case MST_MPI_SMALL: why = take_small(t, p); break;
        case MST_MPI_OFFER: why = take_offer(t, p); break;
        case MST_MPI_TAKE: take_taken(t, p); break;
        case MST_MPI_REFUSE: take_refused(t, p); break;
        case MST_MPI_DROPPED: mst_mpi_cancel(mst_mpi_rank(&t->client, p->from), p->tag); break;
    }
    if (why) mst_event_thread_mismatch(t->events, p->from, p->key, why);
}

static bool has_sendings(void *context) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->lock);
    const bool has = t->first != NULL;
    pthread_mutex_unlock(&t->lock);
    return has || mst_mailbox_waits(t->mailbox);
}

/* ---- the functions of the type ---- */

static mst_status mpi_control(mst_transport *t, int32_t to, const void *data, size_t bytes) {
    return control_type->control(t->control, to, data, bytes);
}

static mst_status mpi_post(mst_transport *t, int32_t from, mst_key key, void *into, size_t bytes, mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, from));
    MST_TRY(check_mpi(t));
    MST_TRY(mst_mailbox_post(t->mailbox, from, key, into, bytes, done));
    mst_mpi_expect();
    return MST_OK;
}

static void mpi_begin(mst_transport *t, uint32_t generation) {
    control_type->begin(t->control, generation);
    mst_mailbox_begin(t->mailbox, generation);
    pthread_mutex_lock(&t->lock);
    if (t->present)
        atomic_store(&t->is_useless, is_one_gone(t));
    else if (t->meeting)
        atomic_store(&t->gone, false); /* MPI has not started yet: losses until now do not matter to it */
    t->present = generation;
    pthread_mutex_unlock(&t->lock);
    if (t->meeting) mst_mpi_begin(mst_mpi_meeting_descriptor(t->meeting));
}

/* Drops messages of ended generations that nobody has taken. Returns whether some are still being sent. Under the
 * lock. */
static bool drop_over(mst_transport *t) {
    bool sends = false;
    for (sending *s = t->first, *next; s; s = next) {
        next = s->next;
        if (s->generation >= t->floor) continue;
        sends |= s->taken;
        if (!s->taken) remove_sending(t, s);
    }
    return sends;
}

static void mpi_end(mst_transport *t) {
    control_type->end(t->control);
    mst_mpi_hurry(true);
    pthread_mutex_lock(&t->lock);
    if (t->floor <= t->present) t->floor = (uint64_t)t->present + 1;
    drop_over(t);
    pthread_mutex_unlock(&t->lock);
    mst_mailbox_end(t->mailbox);
    pthread_mutex_lock(&t->lock);
    while (drop_over(t)) pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    mst_mpi_hurry(false);
}

static void free_transport(mst_transport *t) {
    mst_mailbox_destroy(t->mailbox);
    mst_event_thread_stop(t->events);
    mst_mpi_meeting_free(t->meeting);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->telling);
    mst_open_options_free(&t->options);
    free(t);
}

static void end_meeting(mst_transport *t) {
    if (t->meeting) mst_mpi_meeting_end(t->meeting);
}

/* The control transport is closed last: until MPI has ended, it reports whether all others are there. */
static void mpi_close(mst_transport *t, double seconds) {
    if (is_one_gone(t) && seconds > GONE_SECONDS) seconds = GONE_SECONDS;
    const struct timespec until = mst_clock_timespec((int64_t)(seconds * 1e9));
    pthread_mutex_lock(&t->lock);
    for (int late = seconds <= 0; t->first && !late;) late = pthread_cond_timedwait(&t->changed, &t->lock, &until);
    pthread_mutex_unlock(&t->lock);
    mst_mpi_flush(seconds);
    mpi_end(t);
    mst_mpi_leave(&t->client, t->left, is_one_gone);
    end_meeting(t);
    control_type->close(t->control, is_one_gone(t) && seconds > GONE_SECONDS ? GONE_SECONDS : seconds);
    free_transport(t);
}

static void mpi_leave(mst_transport *t) {
    t->left = true;
}

static mst_status make_transport(mst_transport *t, const mst_transport_options *options) {
    const mst_transport_events events = passing(t);
    MST_TRY(mst_open_options_copy(options, &t->options));
    MST_TRY(mst_event_thread_start(&events, options->num_tasks, &t->events));
    return mst_mailbox_create(t->options.most_kept, t->events, &t->mailbox);
}

static mst_status send_of_meeting(void *context, int32_t to, const void *data, size_t bytes) {
    return mpi_control(context, to, data, bytes);
}

/* Control messages may arrive before this function returns. */
static mst_status open_control(mst_transport *t, const mst_transport_options *options) {
    mst_transport_options own = *options;
    own.events = passing(t);
    return control_type->open(&own, &t->control);
}

/* The control transport, which sends messages of the meeting, is opened later: no such message is sent before a
 * generation has begun. */
static mst_status open_meeting(mst_transport *t) {
    const mst_mpi_meeting_options options = {.task = t->options.self,
                                             .num_tasks = t->options.num_tasks,
                                             .instance = t->options.instance,
                                             .context = t,
                                             .send = send_of_meeting};
    return t->client.begins_later ? mst_mpi_meeting_open(&options, &t->meeting) : MST_OK;
}

static mst_status join(mst_transport *t, const mst_transport_options *options) {
    t->client.task = options->self;
    t->client.num_tasks = options->num_tasks;
    t->client.context = t;
    t->client.packet = take_packet;
    t->client.waits = has_sendings;
    t->client.failed = tell_broken;
    MST_TRY(open_meeting(t));
    mst_status status = open_control(t, options);
    if (!status) {
        status = mst_mpi_join(&t->client);
        if (status) control_type->close(t->control, 0);
    }
    if (status) end_meeting(t);
    return status;
}

static mst_status open_transport(const mst_transport_options *options, mst_mpi_start start, mst_transport **out) {
    mst_transport *t = calloc(1, sizeof *t);
    if (!t) return MST_NO_MEMORY("for a transport");
    t->owner = options->events;
    t->client.threads = start == MST_MPI_THREADS;
    t->client.begins_later = start == MST_MPI_MEETING;
    pthread_mutex_init(&t->telling, NULL);
    pthread_mutex_init(&t->lock, NULL);
    mst_condition_init(&t->changed);
    mst_status status = make_transport(t, options);
    if (!status) status = join(t, options);
    if (status)
        free_transport(t);
    else
        *out = t;
    return status;
}

static mst_status mpi_open(const mst_transport_options *options, mst_transport **out) {
    return open_transport(options, MST_MPI_LAUNCHED, out);
}

static mst_status mpi_open_threads(const mst_transport_options *options, mst_transport **out) {
    return open_transport(options, MST_MPI_THREADS, out);
}

static mst_status mpi_open_meeting(const mst_transport_options *options, mst_transport **out) {
    return open_transport(options, MST_MPI_MEETING, out);
}

static const char *mpi_route(mst_transport *t, int32_t task) {
    return control_type->peer_info->route(t->control, task) ? "through MPI" : NULL;
}

static void mpi_connect_error(mst_transport *t, int32_t task, char *text) {
    control_type->peer_info->connect_error(t->control, task, text);
}

static void mpi_heard(mst_transport *t, int32_t task, char *text) {
    control_type->peer_info->heard(t->control, task, text);
}

static mst_status mpi_ask(const mst_cluster_keys *keys, const char *const *address, int n, double seconds,
                          mst_transport_answer *answers) {
    return control_type->ask(keys, address, n, seconds, answers);
}

static const mst_transport_peer_info peer_info = {
    .route = mpi_route, .connect_error = mpi_connect_error, .heard = mpi_heard};

#define TYPE(its_name, its_open)                                                                                    \
    {                                                                                                               \
        .size = sizeof(mst_transport_type), .name = (its_name), .open = (its_open), .control = mpi_control,         \
        .begin = mpi_begin, .end = mpi_end, .post = mpi_post, .send = mpi_send, .close = mpi_close, .ask = mpi_ask, \
        .leave = mpi_leave, .no_return = NO_RETURN, .peer_info = &peer_info                                         \
    }

static const mst_transport_type types[] = {[MST_MPI_LAUNCHED] = TYPE("mpi", mpi_open),
                                           [MST_MPI_THREADS] = TYPE("mpi-threads", mpi_open_threads),
                                           [MST_MPI_MEETING] = TYPE("mpi", mpi_open_meeting)};

static const mst_transport_type *mpi_type(const mst_transport_type *control, mst_mpi_start start) {
    control_type = control;
    return &types[start];
}

/* One file for several modules: the build says which. */
static const mst_mpi_interface interface = {mpi_type};
extern const mst_module MST_MODULE_SYMBOL;
const mst_module MST_MODULE_SYMBOL = {.abi = MST_MODULE_ABI,
                                      .size = sizeof(mst_module),
                                      .name = MST_MODULE_NAME,
                                      .version = MST_VERSION,
                                      .interface = &interface};
