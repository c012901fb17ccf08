#include "messages/task_message.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "base/wire_number.h"
#include "cluster/cluster_spec.h"
#include "cluster/task_log.h"
#include "cluster/task_transport.h"

enum { HEAD = MST_TASK_MESSAGE_HEAD, ALIGN = 64, SMALL = 16 << 10 /* bytes of a body that travels with its head */ };
static const uint32_t MAGIC = 0x5053534d; /* "MSSP" */
static const uint32_t GENERATION = 1;     /* there is only one generation */

/* A body that is being received: `arrived` rises when it is complete. If its sender is lost, that may never happen: the
 * memory stays until the transport is closed. */
typedef struct incoming {
    struct incoming *next;
    mst_task_message *message;
    mst_timeline arrived;
} incoming;

/* Memory from which bodies are sent. It belongs to the transport if that has such memory, which saves a copy. It is
 * used again. */
struct mst_mail_block {
    mst_mail_block *next;
    mst_timeline sent; /* rises when a body has been sent */
    uint64_t used;     /* number of bodies that have been or will be sent from it */
    size_t room;
    void *data;
    bool is_transports; /* it is memory of the transport */
};

struct mst_mail {
    const mst_cluster *cluster;
    const mst_transport_type *type;
    mst_transport *transport;
    uint64_t instance;
    int32_t self;
    size_t most_bytes;
    bool borrows;
    FILE *log;
    double linger;        /* seconds */
    bool gives_up;        /* bodies that have not been sent are no longer wanted */
    mst_timeline opened;  /* 1: `transport` is set. The transport may call this mail before that */
    mst_timeline news;    /* rises when there may be something to take */
    int event;            /* eventfd of `news` */
    mst_timeline starved; /* `done` of the posts for messages that are dropped for lack of memory */
    pthread_mutex_t lock;
    const mst_protocol *protocol;
    uint64_t last_run; /* number of the last body that was sent as data */
    mst_task_message *first, **last;
    incoming *coming, **last_coming; /* in the order of their heads */
    mst_mail_block *blocks;          /* blocks that nobody has taken; bodies may still be sent from some */
    mst_mail_block *left;            /* blocks that somebody may still write to */
};

/* ---- heads ---- */

/*      magic, version, kind, round 4 bytes each
 *      number, step                8 each
 *      bytes of the body           8
 *      run                         8: of the data message with the body; 0: the body follows here
 *      request                     8 */
void mst_task_message_head_encode(const mst_task_message_head *head, uint64_t bytes, uint64_t run,
                                  unsigned char at[MST_TASK_MESSAGE_HEAD]) {
    at = mst_put_number(at, MAGIC, 4);
    at = mst_put_number(at, MST_TASK_MESSAGE_VERSION, 4);
    at = mst_put_number(at, (uint64_t)head->kind, 4);
    at = mst_put_number(at, head->round, 4);
    at = mst_put_number(at, (uint64_t)head->number, 8);
    at = mst_put_number(at, (uint64_t)head->step, 8);
    at = mst_put_number(at, bytes, 8);
    at = mst_put_number(at, run, 8);
    mst_put_number(at, head->request, 8);
}

static bool is_in(uint64_t set, const mst_protocol *protocol, int32_t kind) {
    return kind >= protocol->first && kind < protocol->end && (set & MST_TASK_MESSAGE_BIT(protocol->first, kind));
}

/* Whether the body is a text for display. */
static bool is_text(const mst_protocol *protocol, int32_t kind) {
    return kind == MST_TASK_MESSAGE_CANNOT_JOIN || is_in(protocol->texts, protocol, kind);
}

/* Ranges of kinds begin at multiples of the first of them (MST_TASK_MESSAGE_CHECKUP and so on). */
static uint64_t range_of(uint64_t kind) {
    return kind / MST_TASK_MESSAGE_CHECKUP;
}

/* Whether KIND belongs to another protocol. Example: `muster doctor` sends its messages to a task that trains. */
static bool is_of_other(const mst_protocol *protocol, uint64_t kind) {
    return kind >= MST_TASK_MESSAGE_CHECKUP && kind < MST_TASK_MESSAGE_RANGES_END &&
           range_of(kind) != range_of((uint64_t)protocol->first);
}

static bool is_known(const mst_protocol *protocol, uint64_t kind) {
    return kind == MST_TASK_MESSAGE_CANNOT_JOIN ||
           (kind >= (uint64_t)protocol->first && kind < (uint64_t)protocol->end) || is_of_other(protocol, kind);
}

const char *mst_task_message_head_decode(const mst_protocol *protocol, const void *data, size_t size, size_t most_bytes,
                                         mst_task_message_head *head, size_t *bytes, uint64_t *run) {
    const unsigned char *at = data;
    if (size < HEAD || mst_get_number(&at, 4) != MAGIC) return "what it has sent is no message of Muster's";
    if (mst_get_number(&at, 4) != MST_TASK_MESSAGE_VERSION) return "it is of another version of Muster";
    const uint64_t kind = mst_get_number(&at, 4);
    mst_task_message_head h = {.kind = (int32_t)kind, .round = (uint32_t)mst_get_number(&at, 4)};
    h.number = (int64_t)mst_get_number(&at, 8);
    h.step = (int64_t)mst_get_number(&at, 8);
    const uint64_t all = mst_get_number(&at, 8);
    *run = mst_get_number(&at, 8);
    h.request = mst_get_number(&at, 8);
    if (!is_known(protocol, kind)) return "it has sent a message of an unknown kind";
    if (all > most_bytes) return "it has sent a message that is too long";
    if (is_text(protocol, h.kind) && *run) return "it has sent an error that is too long";
    if (*run ? size != HEAD || all == 0 : size - HEAD != all) return "it has sent a message of a wrong length";
    *head = h;
    *bytes = all;
    return NULL;
}

/* ---- receiving, on the transport's thread ---- */

static mst_task_message *make_message(const mst_task_message_head *head, int32_t from, uint64_t instance,
                                      size_t bytes) {
    mst_task_message *message = calloc(1, sizeof *message);
    if (!message) return NULL;
    *message = (mst_task_message){.head = *head, .from = from, .instance = instance, .bytes = bytes};
    /* a multiple of ALIGN with at least one byte more than the body, for the 0 after it */
    message->body = message->own = aligned_alloc(ALIGN, (bytes + ALIGN) / ALIGN * ALIGN);
    if (!message->body) {
        free(message);
        return NULL;
    }
    ((char *)message->body)[bytes] = '\0';
    return message;
}

static void enqueue(mst_mail *mail, mst_task_message *message) {
    *mail->last = message;
    mail->last = &message->next;
    mst_timeline_add(&mail->news, 1);
}

/* Adds an event for the owner. The body of the event is TEXT. */
static void enqueue_event(mst_mail *mail, int32_t kind, int32_t from, uint64_t instance, const char *text) {
    mst_task_message *message = make_message(&(mst_task_message_head){.kind = kind}, from, instance, strlen(text));
    if (!message) return; /* no memory: the event is lost, and the owner's step runs into its time limit */
    memcpy(message->body, text, message->bytes);
    pthread_mutex_lock(&mail->lock);
    enqueue(mail, message);
    pthread_mutex_unlock(&mail->lock);
}

/* There is no memory for a message whose body has BYTES and comes as data message RUN. Posts memory of another size for
 * the body, so that the transport drops it. */
static void starve(mst_mail *mail, int32_t from, uint64_t instance, size_t bytes, uint64_t run) {
    const mst_key key = {.generation = GENERATION, .run = run};
    char text[64];
    mst_timeline_wait(&mail->opened, 1, MST_NEVER, false);
    if (run && mail->type->post(mail->transport, from, key, NULL, 0, &mail->starved)) {
        /* without this post the connection breaks */
    }
    snprintf(text, sizeof text, "%zu bytes", bytes);
    if (mail->protocol->fails_without_memory)
        enqueue_event(mail, MST_TASK_MESSAGE_NO_MEMORY, from, instance, text);
    else
        enqueue_event(mail, MST_TASK_MESSAGE_LOST, from, instance, "there is no memory for its message");
}

/* Takes MESSAGE over. Returns NULL, or why its body cannot be received. */
static const char *await_body(mst_mail *mail, mst_task_message *message, uint64_t run) {
    incoming *in = aligned_alloc(_Alignof(incoming), sizeof *in);
    if (!in) {
        mst_task_message_free(message);
        return "there is no memory for its message";
    }
    memset(in, 0, sizeof *in);
    in->message = message;
    in->arrived.also = &mail->news;
    pthread_mutex_lock(&mail->lock);
    *mail->last_coming = in;
    mail->last_coming = &in->next;
    pthread_mutex_unlock(&mail->lock);
    mst_timeline_wait(&mail->opened, 1, MST_NEVER, false);
    const mst_key key = {.generation = GENERATION, .run = run};
    const bool borrows =
        mail->borrows && mail->type->borrow && is_in(mail->protocol->lends, mail->protocol, message->head.kind);
    const mst_status status =
        borrows ? mail->type->borrow(mail->transport, message->from, key, message->body, message->bytes, &message->lent,
                                     &in->arrived)
                : mail->type->post(mail->transport, message->from, key, message->body, message->bytes, &in->arrived);
    return status ? "its message cannot be received" : NULL;
}

static void mail_control(void *context, int32_t from, uint64_t instance, const void *data, size_t size) {
    mst_mail *mail = context;
    mst_task_message_head head;
    mst_task_message *message = NULL;
    size_t bytes = 0;
    uint64_t run = 0;
    const char *why = mst_task_message_head_decode(mail->protocol, data, size, mail->most_bytes, &head, &bytes, &run);
    if (!why && !run && is_of_other(mail->protocol, (uint64_t)head.kind)) return;
    if (!why && !(message = make_message(&head, from, instance, bytes))) {
        starve(mail, from, instance, bytes, run);
        return;
    }
    if (!why && run) why = await_body(mail, message, run);
    if (why) {
        enqueue_event(mail, MST_TASK_MESSAGE_LOST, from, instance, why);
        return;
    }
    if (run) return;
    memcpy(message->body, (const char *)data + HEAD, bytes);
    /* the text is for display: control characters are removed */
    if (is_text(mail->protocol, head.kind)) mst_make_plain(message->body);
    pthread_mutex_lock(&mail->lock);
    enqueue(mail, message);
    pthread_mutex_unlock(&mail->lock);
}

static void mail_connected(void *context, int32_t task) {
    enqueue_event(context, MST_TASK_MESSAGE_CONNECTED, task, 0, "");
}

static void mail_list_mismatch(void *context, int32_t task, const char *why) {
    enqueue_event(context, MST_TASK_MESSAGE_CANNOT_JOIN, task, 0, why);
}

static void mail_lost(void *context, int32_t task, uint64_t instance, const char *why) {
    enqueue_event(context, MST_TASK_MESSAGE_LOST, task, instance, why);
}

static void log_line(const mst_mail *mail, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void log_line(const mst_mail *mail, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(mail->log, mail->cluster, format, list);
    va_end(list);
}

static void mail_stranger(void *context, const char *line) {
    log_line(context, "%s", line);
}

static void mail_mismatch(void *context, int32_t task, mst_key key, const char *why) {
    (void)key;
    enqueue_event(context, MST_TASK_MESSAGE_LOST, task, 0, why);
}

/* ---- taking ---- */

/* Finds the body of MESSAGE if it was lent. Usually it is read where it is, in the sender's memory. If it came in
 * several parts, it is copied. */
static void take_lent(mst_task_message *message) {
    if (!message->lent) return;
    if (!message->lent->next) {
        message->body = (void *)(uintptr_t)message->lent->data;
        return;
    }
    for (const mst_kept_part *part = message->lent; part; part = part->next)
        memcpy((char *)message->body + part->offset, part->data, part->bytes);
    mst_kept_parts_release(message->lent);
    message->lent = NULL;
}

/* Puts the bodies that have arrived on the queue. Under the lock. */
static void take_arrived(mst_mail *mail) {
    incoming **at = &mail->coming;
    while (*at) {
        incoming *in = *at;
        if (mst_timeline_value(&in->arrived) == 0) {
            at = &in->next;
            continue;
        }
        *at = in->next;
        *mail->last = in->message;
        mail->last = &in->message->next;
        free(in);
    }
    mail->last_coming = at;
}

mst_task_message *mst_mail_next(mst_mail *mail, int64_t deadline) {
    for (bool in_time = true;;) {
        const uint64_t seen = mst_timeline_value(&mail->news);
        pthread_mutex_lock(&mail->lock);
        take_arrived(mail);
        mst_task_message *message = mail->first;
        if (message && !(mail->first = message->next)) mail->last = &mail->first;
        pthread_mutex_unlock(&mail->lock);
        if (message) {
            message->next = NULL;
            take_lent(message);
        }
        if (message || !in_time) return message;
        in_time = mst_transport_await(mail->type, mail->transport, &mail->news, seen + 1, deadline);
    }
}

void mst_task_message_free(mst_task_message *message) {
    if (!message) return;
    mst_kept_parts_release(message->lent);
    free(message->own);
    free(message);
}

/* ---- sending ---- */

static mst_status send_message(mst_mail *mail, int32_t to, int32_t kind, const void *data, size_t bytes) {
    const bool is_urgent = mail->type->send_urgent && is_in(mail->protocol->overtakes, mail->protocol, kind);
    return (is_urgent ? mail->type->send_urgent : mail->type->control)(mail->transport, to, data, bytes);
}

static mst_status send_small(mst_mail *mail, int32_t to, const mst_task_message_head *head, const mst_iov *piece, int n,
                             size_t bytes) {
    unsigned char message[HEAD + SMALL];
    mst_task_message_head_encode(head, bytes, 0, message);
    size_t used = HEAD;
    for (int i = 0; i < n; used += piece[i++].bytes)
        if (piece[i].bytes) memcpy(message + used, piece[i].data, piece[i].bytes);
    return send_message(mail, to, head->kind, message, used);
}

static mst_status send_large(mst_mail *mail, int32_t to, const mst_task_message_head *head, const mst_iov *piece, int n,
                             size_t bytes, mst_timeline *sent) {
    unsigned char message[HEAD];
    pthread_mutex_lock(&mail->lock);
    const mst_key key = {.generation = GENERATION, .run = ++mail->last_run};
    pthread_mutex_unlock(&mail->lock);
    mst_task_message_head_encode(head, bytes, key.run, message);
    MST_TRY(send_message(mail, to, head->kind, message, HEAD));
    return mail->type->send(mail->transport, to, key, piece, n, sent);
}

static void free_block(mst_mail *mail, mst_mail_block *block) {
    if (block->is_transports)
        mail->type->memory->free(mail->transport, block->data);
    else
        free(block->data);
    free(block);
}

static void free_blocks(mst_mail *mail, mst_mail_block *block) {
    for (mst_mail_block *next; block; block = next) {
        next = block->next;
        free_block(mail, block);
    }
}

static mst_mail_block *make_block(mst_mail *mail, size_t bytes) {
    mst_mail_block *block = aligned_alloc(_Alignof(mst_mail_block), sizeof *block);
    if (!block) return NULL;
    memset(block, 0, sizeof *block);
    block->room = (bytes + ALIGN) / ALIGN * ALIGN;
    if (mail->type->memory) block->data = mail->type->memory->alloc(mail->transport, block->room);
    block->is_transports = block->data;
    if (!block->data) block->data = aligned_alloc(ALIGN, block->room);
    if (block->data) return block;
    free(block);
    return NULL;
}

mst_mail_block *mst_mail_block_take(mst_mail *mail, size_t bytes) {
    mst_mail_block *found = NULL;
    pthread_mutex_lock(&mail->lock);
    for (mst_mail_block **at = &mail->blocks; *at && !found; at = &(*at)->next) {
        mst_mail_block *block = *at;
        if (mst_timeline_value(&block->sent) < block->used || block->room < bytes || block->room / 2 > bytes) continue;
        found = block;
        *at = block->next;
        break;
    }
    pthread_mutex_unlock(&mail->lock);
    return found ? found : make_block(mail, bytes);
}

static void add_block(mst_mail *mail, mst_mail_block **list, mst_mail_block *block) {
    pthread_mutex_lock(&mail->lock);
    block->next = *list;
    *list = block;
    pthread_mutex_unlock(&mail->lock);
}

void mst_mail_block_give(mst_mail *mail, mst_mail_block *block) {
    if (block) add_block(mail, &mail->blocks, block);
}

void mst_mail_block_leave(mst_mail *mail, mst_mail_block *block) {
    if (block) add_block(mail, &mail->left, block);
}

void *mst_mail_block_data(const mst_mail_block *block) {
    return block->data;
}

mst_status mst_mail_send_block(mst_mail *mail, int32_t to, const mst_task_message_head *head, mst_mail_block *block,
                               size_t offset, size_t bytes) {
    const mst_iov piece = {(const char *)block->data + offset, bytes};
    block->used++;
    const mst_status status = mst_mail_send(mail, to, head, &piece, 1, &block->sent);
    if (status) block->used--;
    return status;
}

/* Sends a copy of the pieces. */
static mst_status send_copy(mst_mail *mail, int32_t to, const mst_task_message_head *head, const mst_iov *piece, int n,
                            size_t bytes) {
    mst_mail_block *block = mst_mail_block_take(mail, bytes);
    if (!block) return MST_NO_MEMORY("for a message of %zu bytes", bytes);
    size_t used = 0;
    for (int i = 0; i < n; used += piece[i++].bytes)
        if (piece[i].bytes) memcpy((char *)block->data + used, piece[i].data, piece[i].bytes);
    const mst_status status = mst_mail_send_block(mail, to, head, block, 0, bytes);
    mst_mail_block_give(mail, block);
    return status;
}

/* Sends to this task itself. */
static mst_status send_self(mst_mail *mail, const mst_task_message_head *head, const mst_iov *piece, int n,
                            size_t bytes) {
    mst_task_message *message = make_message(head, mail->self, mail->instance, bytes);
    if (!message) return MST_NO_MEMORY("for a message of %zu bytes", bytes);
    size_t used = 0;
    for (int i = 0; i < n; used += piece[i++].bytes)
        if (piece[i].bytes) memcpy((char *)message->body + used, piece[i].data, piece[i].bytes);
    pthread_mutex_lock(&mail->lock);
    enqueue(mail, message);
    pthread_mutex_unlock(&mail->lock);
    return MST_OK;
}

mst_status mst_mail_send(mst_mail *mail, int32_t to, const mst_task_message_head *head, const mst_iov *piece, int n,
                         mst_timeline *sent) {
    size_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += piece[i].bytes;
    if (to == mail->self) {
        MST_TRY(send_self(mail, head, piece, n, bytes));
        if (sent) mst_timeline_add(sent, 1);
        return MST_OK;
    }
    if (bytes > SMALL && sent) return send_large(mail, to, head, piece, n, bytes, sent);
    if (bytes > SMALL) return send_copy(mail, to, head, piece, n, bytes);
    MST_TRY(send_small(mail, to, head, piece, n, bytes));
    if (sent) mst_timeline_add(sent, 1);
    return MST_OK;
}

const char *mst_mail_route(mst_mail *mail, int32_t to) {
    return mail->type->peer_info ? mail->type->peer_info->route(mail->transport, to)
                                 : "over a transport that does not say how";
}

const char *mst_mail_name(const mst_mail *mail, int32_t task, char *text, size_t size) {
    const mst_task_info info = mst_cluster_task(mail->cluster, task);
    snprintf(text, size, "%s:%d at %s", info.job, (int)info.index, info.address ? info.address : "an unknown address");
    return text;
}

const char *mst_mail_missing(const mst_mail *mail, int32_t task, char *text, size_t size) {
    char why[MST_TRANSPORT_DOING] = "";
    mst_mail_name(mail, task, text, size);
    if (mail->type->peer_info) mail->type->peer_info->connect_error(mail->transport, task, why);
    const size_t used = strlen(text);
    if (*why) snprintf(text + used, size - used, " (%s)", why);
    return text;
}

void mst_mail_heard(const mst_mail *mail, int32_t task, char *text) {
    *text = '\0';
    if (mail->type->peer_info) mail->type->peer_info->heard(mail->transport, task, text);
}

/* ---- opening and closing ---- */

static mst_task_transport transport_of(const mst_mail_options *o) {
    return (mst_task_transport){.name = o->transport,
                                .key_file = o->key_file,
                                .log = o->log,
                                .cluster = o->cluster,
                                .name_seconds = o->name_seconds,
                                .stop = o->stop,
                                .context = o->context};
}

static mst_status open_type(mst_mail *mail, const mst_mail_options *o, mst_transport_options *options) {
    const mst_task_transport which = transport_of(o);
    if (!o->type) return mst_task_transport_open(&which, options, &mail->type, &mail->transport);
    mail->type = o->type;
    return mail->type->open(options, &mail->transport);
}

/* Tells other tasks that this one cannot join because of the calling thread's error, whose code is STATUS. A worker
 * tells all servers; a server tells all workers. Returns STATUS. */
static mst_status tell_cannot_join(const mst_mail_options *o, const mst_transport_options *options, mst_status status) {
    mst_failure failure;
    unsigned char message[HEAD + sizeof failure.message];
    const mst_task_transport which = transport_of(o);
    const int32_t workers = mst_cluster_num_workers(o->cluster);
    const bool is_worker = options->self < workers;
    mst_failure_keep(&failure, status);
    const size_t bytes = strlen(failure.message);
    mst_task_message_head_encode(&(mst_task_message_head){.kind = MST_TASK_MESSAGE_CANNOT_JOIN}, bytes, 0, message);
    memcpy(message + HEAD, failure.message, bytes);
    mst_task_transport_tell(&which, options, is_worker ? workers : 0, is_worker ? options->num_tasks : workers, false,
                            message, HEAD + bytes);
    return mst_failure_restore(&failure);
}

static mst_status open_transport(mst_mail *mail, const mst_mail_options *o) {
    const int tasks = mst_cluster_num_training_tasks(o->cluster);
    const char **address = calloc((size_t)(tasks + o->num_clients), sizeof *address);
    if (!address) return MST_NO_MEMORY("for %d tasks", tasks);
    mail->self = o->client ? tasks + o->client - 1 : mst_cluster_self(o->cluster);
    for (int i = 0; i < tasks; i++) address[i] = o->address ? o->address[i] : mst_cluster_task(o->cluster, i).address;
    char lists[MST_CLUSTER_LISTS];
    mst_transport_options options = {.num_tasks = tasks + o->num_clients,
                                     .lists = o->compares_lists ? mst_cluster_lists(o->cluster, lists) : NULL,
                                     .self = mail->self,
                                     .address = address,
                                     .bind = o->client ? "127.0.0.1:1" : o->bind, /* a client does not listen there */
                                     .insecure = o->insecure,
                                     .only_connects = o->client > 0,
                                     .instance = mail->instance,
                                     .timeout = o->timeout,
                                     .events = {.context = mail,
                                                .control = mail_control,
                                                .connected = mail_connected,
                                                .lost = mail_lost,
                                                .list_mismatch = mail_list_mismatch,
                                                .stranger = mail_stranger,
                                                .mismatch = mail_mismatch}};
    if (o->status) options.report = mst_task_status_reporter(o->status);
    mst_status status = open_type(mail, o, &options);
    if (!status) mst_timeline_add(&mail->opened, 1);
    if (status && o->tells) status = tell_cannot_join(o, &options, status);
    if (!status) mail->type->begin(mail->transport, GENERATION);
    if (!status && mail->type->receiver) mail->type->receiver->direct(mail->transport);
    free(address);
    return status;
}

mst_status mst_mail_open(const mst_mail_options *options, mst_mail **out) {
    static const size_t MOST = (size_t)16 << 30;
    if (sodium_init() < 0) return MST_FAIL(MST_IO, "task: the system provides no random numbers");
    mst_mail *mail = aligned_alloc(_Alignof(mst_mail), sizeof *mail);
    if (!mail) return MST_NO_MEMORY("for a task");
    memset(mail, 0, sizeof *mail);
    mail->cluster = mst_cluster_retain((mst_cluster *)(uintptr_t)options->cluster);
    mail->protocol = options->protocol;
    mail->most_bytes = options->most_bytes ? options->most_bytes : MOST;
    mail->borrows = options->borrows;
    mail->log = options->log;
    mail->linger = 1;
    mail->last = &mail->first;
    mail->last_coming = &mail->coming;
    while (!mail->instance) randombytes_buf(&mail->instance, sizeof mail->instance);
    /* so that runs have other numbers than those of an earlier instance; half of the range is left to count on */
    randombytes_buf(&mail->last_run, sizeof mail->last_run);
    mail->last_run >>= 1;
    pthread_mutex_init(&mail->lock, NULL);
    mail->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    mail->news.event = mail->event + 1; /* 0 if there is none: base/timeline.h */
    const mst_status status =
        mail->event < 0 ? MST_FAIL(MST_OUT_OF_MEMORY, "cannot make an eventfd (%s): allow more open files (ulimit -n)",
                                   strerror(errno))
                        : open_transport(mail, options);
    if (status)
        mst_mail_close(mail);
    else
        *out = mail;
    return status;
}

void mst_mail_linger(mst_mail *mail, double seconds) {
    mail->linger = seconds;
}

void mst_mail_give_up(mst_mail *mail) {
    mail->gives_up = true;
}

/* Waits until all bodies have been sent. After that none is sent any more. */
static void end_sending(mst_mail *mail) {
    const int64_t deadline = mst_clock_after(mail->gives_up ? 0 : mail->linger);
    for (mst_mail_block *block = mail->blocks; block; block = block->next)
        mst_timeline_wait(&block->sent, block->used, deadline, false);
    mail->type->end(mail->transport);
    free_blocks(mail, mail->blocks);
    free_blocks(mail, mail->left);
    mail->blocks = mail->left = NULL;
}

/* Frees the messages that nobody has taken. */
static void free_messages(mst_mail *mail) {
    pthread_mutex_lock(&mail->lock);
    take_arrived(mail);
    mst_task_message *message = mail->first;
    mail->first = NULL;
    mail->last = &mail->first;
    pthread_mutex_unlock(&mail->lock);
    for (mst_task_message *next; message; message = next) {
        next = message->next;
        mst_task_message_free(message);
    }
}

void mst_mail_close(mst_mail *mail) {
    if (!mail) return;
    if (mail->transport) {
        end_sending(mail);
        free_messages(mail); /* before the transport is closed: bodies may be lent */
        mail->type->close(mail->transport, mail->linger);
    }
    free_messages(mail);
    for (incoming *in = mail->coming, *next; in; in = next) {
        next = in->next;
        mst_task_message_free(in->message);
        free(in);
    }
    mst_cluster_release((mst_cluster *)(uintptr_t)mail->cluster);
    if (mail->event >= 0) close(mail->event);
    pthread_mutex_destroy(&mail->lock);
    free(mail);
}
