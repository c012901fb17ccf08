/* Starting and ending a task server (muster/server.h), and its thread. The struct is in sessions/service.h, the
 * messages are in sessions/session_message.h. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "base/thread.h"
#include "cluster/free_ports.h"
#include "cluster/task_log.h"
#include "sessions/lead.h"
#include "sessions/session_parts.h"

static const int64_t PATIENCE = 2000000000, PAUSE = 5000000000; /* nanoseconds before and between complaints */

/* ---- sending ---- */

void mst_service_log(const mst_task_server *server, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(server->log, server->cluster, format, list);
    va_end(list);
}

const char *mst_service_name(const mst_task_server *server, int32_t task, char *text, size_t size) {
    return mst_mail_name(server->mail, task, text, size);
}

void mst_service_send(mst_task_server *server, int32_t to, const mst_task_message_head *head, mst_wire_writer *w) {
    mst_status status = w ? mst_wire_check_written(w) : MST_OK;
    const mst_iov piece = {w ? w->data : NULL, w ? w->size : 0};
    if (!status) status = mst_mail_send(server->mail, to, head, &piece, 1, NULL);
    if (status) mst_service_log(server, "a message to peer %d is lost: %s", (int)to, mst_error()->message);
    if (w) mst_wire_free(w);
}

/* ---- messages of the leader ---- */

static void free_early(mst_task_server *server) {
    while (server->early) {
        mst_task_message *message = server->early;
        server->early = message->next;
        mst_task_message_free(message);
    }
}

/* Says HELLO with a new number: the leader then treats this task as one that has just come. */
static void say_hello(mst_task_server *server) {
    mst_wire_writer w = {0};
    free_early(server);
    server->taken = 0;
    server->hears_leader = false;
    randombytes_buf(&server->hello, sizeof server->hello);
    server->hello >>= 1; /* `number` of a message is signed */
    mst_task_devices_put(&w, &server->devices);
    mst_service_send(server, MST_REMOTE_LEADER,
                     &(mst_task_message_head){.kind = MST_SERVICE_HELLO, .number = (int64_t)server->hello}, &w);
    pthread_mutex_lock(&server->lock);
    const bool joins = server->joins;
    pthread_mutex_unlock(&server->lock);
    if (joins) mst_service_send(server, MST_REMOTE_LEADER, &(mst_task_message_head){.kind = MST_SERVICE_JOINS}, NULL);
}

static void end_joining(mst_task_server *server) {
    pthread_mutex_lock(&server->lock);
    server->ended = true;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* Takes the next message in the leader's order. */
static void take_in_order(mst_task_server *server, mst_task_message *message) {
    server->taken++;
    if (message->head.kind != MST_SERVICE_ENDS) {
        mst_session_parts_take(server->parts, message);
        return;
    }
    end_joining(server);
    mst_task_message_free(message);
}

/* Takes a message of the leader. In these messages `request` is the number of this task's last HELLO, and `round` the
 * place of the message in the leader's order, from 0 on. A message with a large body may come after later ones. Those
 * wait in `early`, sorted by `round`. */
static void take_of_leader(mst_task_server *server, mst_task_message *message) {
    if (message->from != MST_REMOTE_LEADER || message->head.request != server->hello) {
        /* dropped: it belongs to an earlier HELLO of this task, or comes from a task that does not lead */
        mst_task_message_free(message);
        return;
    }
    server->hears_leader = true;
    mst_task_message **at = &server->early;
    while (*at && (*at)->head.round < message->head.round) at = &(*at)->next;
    message->next = *at;
    *at = message;
    while (server->early && server->early->head.round == server->taken) {
        mst_task_message *next = server->early;
        server->early = next->next;
        next->next = NULL;
        take_in_order(server, next);
    }
}

static void lose(mst_task_server *server, const mst_task_message *message) {
    char name[320];
    const int32_t peer = message->from;
    const char *why = message->body;
    if (peer < server->num_tasks && (server->hears_leader || server->lead || message->instance))
        mst_service_log(server, "%s %s: %s", mst_service_name(server, peer, name, sizeof name),
                        message->instance ? "is lost" : "refuses this task", why);
    if (!message->instance) return; /* there was no connection, so nothing is lost */
    if (server->lead) mst_lead_lose(server->lead, peer, why);
    if (peer == MST_REMOTE_LEADER) {
        mst_session_parts_drop(server->parts, why);
        say_hello(server);
    } else if (peer < server->num_tasks && !server->lead) {
        mst_service_send(server, MST_REMOTE_LEADER,
                         &(mst_task_message_head){.kind = MST_SERVICE_MISSES, .number = peer}, NULL);
    }
}

/* ---- the thread ---- */

static void take_message(mst_task_server *server, mst_task_message *message) {
    const int32_t kind = message->head.kind;
    if (kind == MST_TASK_MESSAGE_LOST) {
        lose(server, message);
    } else if (kind >= MST_PART_OPEN && kind <= MST_SERVICE_ENDS) {
        take_of_leader(server, message);
        return;
    } else if (kind == MST_PART_VALUE) {
        mst_session_parts_take_value(server->parts, message);
    } else if (server->lead && kind >= MST_SESSION_OPEN && kind < MST_PART_VALUE) {
        mst_lead_take(server->lead, message);
        return;
    } /* nothing to do for CONNECTED, and for WAKE of this task itself: they only wake the loop */
    mst_task_message_free(message);
}

/* Says every few seconds for whom the task waits. Returns the time of the next call. */
static int64_t complain(mst_task_server *server, int64_t now) {
    char whom[600];
    if (server->lead || server->hears_leader || mst_mail_route(server->mail, MST_REMOTE_LEADER)) {
        if (!server->lead) mst_task_status_wait_for(&server->status, "");
        return MST_NEVER;
    }
    if (now < server->next_complaint) return server->next_complaint;
    server->next_complaint = now + PAUSE;
    mst_mail_missing(server->mail, MST_REMOTE_LEADER, whom, sizeof whom);
    mst_task_status_wait_for(&server->status, whom);
    mst_service_log(server, "waits for %s", whom);
    return server->next_complaint;
}

static void *run_server(void *context) {
    mst_task_server *server = context;
    say_hello(server);
    server->next_complaint = mst_clock_now() + PATIENCE;
    while (!atomic_load(&server->stopping)) {
        const int64_t now = mst_clock_now();
        int64_t next = complain(server, now);
        const int64_t lead = server->lead ? mst_lead_work(server->lead, now) : MST_NEVER;
        if (lead < next) next = lead;
        mst_task_message *message = mst_mail_next(server->mail, next);
        if (message) take_message(server, message);
    }
    return NULL;
}

/* ---- starting ---- */

static mst_status make_local_cluster(mst_cluster **out) {
    char address[32];
    const char *const addresses[] = {address};
    int port;
    MST_TRY(mst_find_free_ports(1, &port));
    snprintf(address, sizeof address, "localhost:%d", port);
    const mst_cluster_job job = {.name = "local", .num_tasks = 1, .address = addresses};
    return mst_cluster_create(&(mst_cluster_options){.jobs = &job, .num_jobs = 1, .job_name = "local"}, out);
}

static mst_status describe_devices(mst_task_server *server) {
    const mst_task_info self = mst_cluster_task(server->cluster, server->self);
    mst_device_name task;
    mst_devices devices;
    MST_TRY(mst_device_name_of_task(self.job, self.index, &task));
    MST_TRY(mst_devices_create(server->device_spec, server->visible_devices, server->memory_limit, &task, &devices));
    mst_device_description *device = calloc((size_t)devices.count + 1, sizeof *device);
    for (int i = 0; device && i < devices.count; i++) device[i] = mst_device_describe(&devices, i);
    if (device) server->devices = (mst_task_devices){devices.count, device};
    mst_devices_free(&devices);
    return device ? MST_OK : MST_NO_MEMORY("for a task server");
}

static mst_status check_cluster(const mst_task_server *server) {
    if (mst_cluster_is_sparse(server->cluster))
        return MST_FAIL(
            MST_INVALID,
            "task server: each task must know all others, and this TF_CONFIG (sparseCluster) does not list them all");
    if (server->self >= server->num_tasks)
        return MST_FAIL(
            MST_INVALID,
            "task server: this task is an evaluator, to which no part of a graph can be assigned: give it another job");
    for (int32_t i = 0; i < server->num_tasks; i++) {
        const mst_task_info info = mst_cluster_task(server->cluster, i);
        if (!info.address)
            return MST_FAIL(MST_INVALID, "task server: the address of %s:%d is not known: give all addresses", info.job,
                            (int)info.index);
    }
    return MST_OK;
}

static mst_status copy_text(const char *text, char **out) {
    *out = text ? strdup(text) : NULL;
    return text && !*out ? MST_NO_MEMORY("for a task server") : MST_OK;
}

static mst_status open_mail(mst_task_server *server, const mst_task_server_options *o) {
    MST_TRY(mst_task_status_init(&server->status, server->cluster));
    server->has_status = true;
    server->status.sessions = MST_TASK_MESSAGE_VERSION;
    mst_task_status_begin(&server->status, MST_TASK_SERVES);
    const mst_mail_options mail = {.cluster = server->cluster,
                                   .protocol = &mst_session_protocol,
                                   .bind = o->bind,
                                   .key_file = o->key_file,
                                   .transport = o->transport,
                                   .insecure = o->insecure,
                                   .num_clients = MST_REMOTE_CLIENTS,
                                   .name_seconds = MST_NAME_SECONDS,
                                   .timeout = o->timeout,
                                   .log = o->log,
                                   .status = &server->status};
    return mst_mail_open(&mail, &server->mail);
}

static mst_status start(mst_task_server *server, const mst_task_server_options *o) {
    char target[MST_DEVICE_TEXT + 300];
    if (o->cluster)
        server->cluster = mst_cluster_retain((mst_cluster *)(uintptr_t)o->cluster);
    else
        MST_TRY(make_local_cluster(&server->cluster));
    server->num_tasks = mst_cluster_num_training_tasks(server->cluster);
    server->self = mst_cluster_self(server->cluster);
    server->log = o->log;
    server->memory_limit = o->memory_limit;
    MST_TRY(check_cluster(server));
    snprintf(target, sizeof target, "tcp://%s", mst_cluster_task(server->cluster, server->self).address);
    MST_TRY(copy_text(target, &server->target));
    MST_TRY(copy_text(o->devices, &server->device_spec));
    MST_TRY(copy_text(o->visible_devices, &server->visible_devices));
    MST_TRY(describe_devices(server));
    if (o->store)
        server->store = mst_store_retain(o->store);
    else
        MST_TRY(mst_store_create(&server->store));
    MST_TRY(open_mail(server, o));
    MST_TRY(mst_session_parts_create(server, &server->parts));
    if (server->self == MST_REMOTE_LEADER) MST_TRY(mst_lead_create(server, &server->lead));
    if (mst_thread_start(&server->thread, run_server, server))
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for a task server");
    server->has_thread = true;
    return MST_OK;
}

mst_status mst_task_server_start_with(const mst_task_server_options *options, mst_task_server **out) {
    if (MST_IS_NULL(options) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (sodium_init() < 0) return MST_FAIL(MST_IO, "task server: the system gives no random numbers");
    mst_task_server *server = calloc(1, sizeof *server);
    if (!server) return MST_NO_MEMORY("for a task server");
    server->process = mst_process_number();
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    const mst_status status = start(server, options);
    if (status)
        mst_task_server_destroy(server);
    else
        *out = server;
    return status;
}

const char *mst_task_server_target(const mst_task_server *server) {
    if (MST_IS_NULL(server)) return "";
    return server->target;
}

/* ---- ending ---- */

mst_status mst_task_server_join(mst_task_server *server) {
    if (MST_IS_NULL(server)) return MST_INVALID;
    MST_TRY(mst_process_check(server->process, "task server"));
    pthread_mutex_lock(&server->lock);
    server->joins = true;
    pthread_mutex_unlock(&server->lock);
    mst_service_send(server, MST_REMOTE_LEADER, &(mst_task_message_head){.kind = MST_SERVICE_JOINS}, NULL);
    pthread_mutex_lock(&server->lock);
    while (!server->ended) pthread_cond_wait(&server->changed, &server->lock);
    pthread_mutex_unlock(&server->lock);
    return atomic_load(&server->stopping) ? MST_FAIL(MST_CANCELLED, "the task server has been stopped") : MST_OK;
}

void mst_task_server_stop(mst_task_server *server) {
    if (MST_IS_NULL(server)) return;
    atomic_store(&server->stopping, true);
    end_joining(server);
    /* wakes the server's thread */
    if (server->mail) mst_service_send(server, server->self, &(mst_task_message_head){.kind = MST_SERVICE_WAKE}, NULL);
}

void mst_task_server_destroy(mst_task_server *server) {
    /* a child process does not have the server's threads, and cannot free what they held */
    if (!server || mst_process_check(server->process, "task server")) return;
    mst_task_server_stop(server);
    if (server->has_thread) pthread_join(server->thread, NULL);
    mst_session_parts_destroy(server->parts);
    mst_lead_destroy(server->lead);
    free_early(server);
    mst_mail_close(server->mail);
    if (server->has_status) mst_task_status_free(&server->status);
    free((void *)(uintptr_t)server->devices.device);
    mst_store_release(server->store);
    mst_cluster_release(server->cluster);
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->changed);
    free(server->device_spec);
    free(server->visible_devices);
    free(server->target);
    free(server);
}
