#include "sessions/remote_client.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "cluster/address.h"
#include "cluster/task_report.h"
#include "cluster/task_transport.h"

static const double ANSWER_SECONDS = 1, CONNECTING_SECONDS = 10;
enum { MOST_TRIES = 8 * MST_REMOTE_CLIENTS };

struct mst_remote_client {
    char *key_file;
    bool insecure;
    mst_cluster *cluster;
    int32_t target;
    int32_t number; /* the client's number among the clients */
    mst_mail *mail;
    uint64_t last_request, losses;
    bool connected;
};

/* ---- finding the tasks ---- */

typedef struct task_line {
    char job[MST_ADDRESS_TEXT];
    int32_t index;
    char address[MST_ADDRESS_TEXT];
} task_line;

/* Splits "worker:1" into job and index. */
static bool split_name(task_line *line) {
    char *colon = strrchr(line->job, ':'), *end;
    if (!colon) return false;
    const long index = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end || index < 0 || index > MST_MOST_TASK) return false;
    *colon = '\0';
    line->index = (int32_t)index;
    return true;
}

static bool read_lines(const mst_task_report *report, task_line **out, int32_t *count) {
    task_line line, *all = NULL;
    size_t at = 0;
    *count = 0;
    while (mst_task_report_next(report, &at, line.job, line.address, sizeof line.address)) {
        task_line *bigger = realloc(all, ((size_t)*count + 1) * sizeof *all);
        if (bigger) all = bigger;
        if (!bigger || !split_name(&line)) {
            free(all);
            return false;
        }
        all[(*count)++] = line;
    }
    *out = all;
    return *count > 0;
}

/* Makes the cluster. Tasks of one job must be consecutive. */
static mst_status make_cluster(const task_line *line, int32_t count, mst_cluster **out) {
    mst_cluster_job *jobs = calloc((size_t)count, sizeof *jobs);
    const char **address = calloc((size_t)count, sizeof *address);
    int num_jobs = 0;
    mst_status status = jobs && address ? MST_OK : MST_NO_MEMORY("for %d tasks", (int)count);
    for (int32_t i = 0; i < count && !status; i++) {
        address[i] = line[i].address;
        if (i == 0 || strcmp(line[i].job, line[i - 1].job) != 0)
            jobs[num_jobs++] = (mst_cluster_job){.name = line[i].job, .address = &address[i]};
        jobs[num_jobs - 1].num_tasks++;
    }
    if (!status)
        status = mst_cluster_create(&(mst_cluster_options){.jobs = jobs, .num_jobs = num_jobs, .job_name = line[0].job},
                                    out);
    free(jobs);
    free(address);
    return status;
}

/* Asks the task at ADDRESS for its report, until DEADLINE. If there is none, the member `why` of ANSWER says why. */
static mst_status ask_target(const mst_remote_client *client, const char *address, int64_t deadline,
                             mst_transport_answer *answer) {
    const struct timespec pause = {.tv_nsec = 100000000};
    for (;;) {
        MST_TRY(mst_tasks_ask(client->key_file, client->insecure, &address, 1, ANSWER_SECONDS, answer));
        if (answer->data || mst_clock_now() >= deadline) return MST_OK;
        nanosleep(&pause, NULL);
    }
}

static mst_status check_report(const mst_task_report *report, const char *target) {
    if (report->sessions == MST_TASK_MESSAGE_VERSION) return MST_OK;
    if (report->sessions)
        return MST_FAIL(MST_UNAVAILABLE,
                        "session: the task server at '%s' runs another version of Muster: run the same on both sides",
                        target);
    return MST_FAIL(
        MST_UNAVAILABLE,
        "session: the task at '%s' accepts no sessions, because it is a worker or parameter server of a training: "
        "give the address of a task server (muster server --sessions, mst_task_server_start)",
        target);
}

static mst_status find_tasks(mst_remote_client *client, const char *target, double seconds) {
    char address[MST_ADDRESS_TEXT], why[400];
    mst_address parsed;
    mst_transport_answer answer;
    mst_task_report report;
    task_line *line = NULL;
    int32_t count;
    if (mst_address_parse(target, &parsed)) return mst_error_prefix("session: target");
    mst_address_print(&parsed, address);
    MST_TRY(ask_target(client, address, mst_clock_after(seconds), &answer));
    const char *wrong = answer.data ? mst_task_report_decode(answer.data, answer.bytes, &report) : answer.why;
    mst_status status = MST_OK;
    if (wrong)
        status = MST_FAIL(MST_UNAVAILABLE, "session: no task server answers at '%s': %s", target,
                          mst_escape_line(wrong, strlen(wrong), why, sizeof why));
    if (!status) status = check_report(&report, target);
    if (!status && (!read_lines(&report, &line, &count) || report.self >= count))
        status = MST_FAIL(MST_CORRUPT,
                          "session: the task server at '%s' has not sent its list of tasks: run the same version of "
                          "Muster on both sides",
                          target);
    if (!status) status = make_cluster(line, count, &client->cluster);
    if (!status) client->target = report.self;
    free(line);
    free(answer.data);
    return status;
}

/* ---- the connection ---- */

static mst_status open_connection(mst_remote_client *client) {
    const mst_mail_options options = {.cluster = client->cluster,
                                      .protocol = &mst_session_protocol,
                                      .key_file = client->key_file,
                                      .insecure = client->insecure,
                                      .num_clients = MST_REMOTE_CLIENTS,
                                      .client = client->number + 1};
    return mst_mail_open(&options, &client->mail);
}

/* Connects again with the next client number, since the present one is in use. The leader has read nothing of what was
 * sent, so nothing is done twice. */
static mst_status change_number(mst_remote_client *client) {
    mst_mail_linger(client->mail, 0);
    mst_mail_close(client->mail);
    client->mail = NULL;
    client->number = (client->number + 1) % MST_REMOTE_CLIENTS;
    return open_connection(client);
}

mst_status mst_remote_client_open(const char *target, const char *key_file, bool insecure, double seconds,
                                  mst_remote_client **out) {
    if (sodium_init() < 0) return MST_FAIL(MST_IO, "session: the system gives no random numbers");
    mst_remote_client *client = calloc(1, sizeof *client);
    if (!client) return MST_NO_MEMORY("for a session");
    randombytes_buf(&client->last_request, sizeof client->last_request);
    client->last_request >>= 1; /* requests of earlier programs have other numbers, and there is room to count */
    client->insecure = insecure;
    client->number = (int32_t)randombytes_uniform(MST_REMOTE_CLIENTS);
    mst_status status = MST_OK;
    if (key_file && !(client->key_file = strdup(key_file))) status = MST_NO_MEMORY("for a session");
    if (!status) status = find_tasks(client, target, seconds);
    if (!status) status = open_connection(client);
    if (status)
        mst_remote_client_close(client);
    else
        *out = client;
    return status;
}

void mst_remote_client_close(mst_remote_client *client) {
    if (!client) return;
    mst_mail_close(client->mail);
    mst_cluster_release(client->cluster);
    free(client->key_file);
    free(client);
}

int32_t mst_remote_client_target(const mst_remote_client *client) {
    return client->target;
}

/* ---- messages ---- */

/* Whether the leader has refused the connection without reading what was sent (transport/zmq_peer.c). That is so if
 * another process has this client's number. It is also so if the leader took the end of this process's earlier
 * connection for the end of this one ("given up"). */
static bool is_refused(const mst_task_message *message) {
    const bool taken = message->instance == 0 && strstr(message->body, "another process");
    return taken || strstr(message->body, "this connection was given up");
}

static void note_event(mst_remote_client *client, const mst_task_message *message) {
    if (message->from != MST_REMOTE_LEADER) return;
    if (message->head.kind == MST_TASK_MESSAGE_CONNECTED) client->connected = true;
    if (message->head.kind == MST_TASK_MESSAGE_LOST && message->instance) {
        client->connected = false;
        client->losses++;
    }
}

uint64_t mst_remote_client_losses(mst_remote_client *client) {
    for (mst_task_message *message; (message = mst_mail_next(client->mail, 0)) != NULL; mst_task_message_free(message))
        note_event(client, message);
    return client->losses;
}

void mst_remote_client_tell(mst_remote_client *client, int32_t kind, uint64_t session, uint64_t step) {
    const mst_task_message_head head = {.kind = kind, .number = (int64_t)session, .step = (int64_t)step};
    if (mst_mail_send(client->mail, MST_REMOTE_LEADER, &head, NULL, 0, NULL)) {
        /* not sent: the connection has ended, and with it the leader forgets the session */
    }
}

static mst_status send_request(mst_remote_client *client, int32_t kind, uint64_t session, const mst_wire_writer *w) {
    const mst_task_message_head head = {.kind = kind, .number = (int64_t)session, .request = client->last_request};
    const mst_iov piece = {w->data, w->size};
    MST_TRY(mst_wire_check_written(w));
    return mst_mail_send(client->mail, MST_REMOTE_LEADER, &head, &piece, 1, NULL);
}

static mst_status leader_is_lost(const mst_remote_client *client, const mst_task_message *message) {
    char name[320], why[400];
    mst_mail_name(client->mail, MST_REMOTE_LEADER, name, sizeof name);
    mst_escape_line(message->body, message->bytes, why, sizeof why);
    return MST_FAIL(MST_UNAVAILABLE, "task %s, which leads the cluster, %s (%s)", name,
                    message->instance ? "is lost" : "refuses this program", why);
}

static mst_status no_answer(const mst_remote_client *client, double seconds) {
    char name[320];
    mst_mail_name(client->mail, MST_REMOTE_LEADER, name, sizeof name);
    if (client->connected)
        return MST_FAIL(MST_DEADLINE, "task %s, which leads the cluster, has not answered for %g s", name, seconds);
    return MST_FAIL(MST_UNAVAILABLE,
                    "task %s, which leads the cluster, cannot be reached: start it, or see whether its "
                    "address is right for this machine too",
                    name);
}

mst_status mst_remote_client_ask(mst_remote_client *client, int32_t kind, uint64_t session, const mst_wire_writer *w,
                                 double seconds, mst_task_message **out) {
    const int64_t deadline = mst_clock_after(seconds), connecting = mst_clock_after(CONNECTING_SECONDS);
    int tries = 0;
    client->last_request++;
    MST_TRY(send_request(client, kind, session, w));
    for (;;) {
        /* without a connection the time is up after CONNECTING_SECONDS, even if the deadline is later */
        const bool in_time = mst_clock_now() < (client->connected ? deadline : connecting);
        if (!in_time) return no_answer(client, seconds);
        mst_task_message *message =
            mst_mail_next(client->mail, client->connected || deadline < connecting ? deadline : connecting);
        if (!message) continue;
        mst_status status = MST_OK;
        const bool is_answer = message->head.kind == MST_SESSION_ANSWER;
        if (is_answer && message->head.request == client->last_request && message->from == MST_REMOTE_LEADER) {
            *out = message;
            return MST_OK;
        }
        /* an event of the connection; or an answer that came too late for an earlier request, which is dropped */
        note_event(client, message);
        if (message->head.kind == MST_TASK_MESSAGE_LOST && message->from == MST_REMOTE_LEADER) {
            /* only to open a session: an open one belongs to the client number that opened it */
            if (is_refused(message) && kind == MST_SESSION_OPEN && tries++ < MOST_TRIES) {
                status = change_number(client);
                if (!status) status = send_request(client, kind, session, w);
            } else {
                status = leader_is_lost(client, message);
            }
        }
        mst_task_message_free(message);
        MST_TRY(status);
    }
}
