/** The inside of a task server: what a task of a cluster does for sessions over several tasks.
 *
 *      client                    task 0, the leader                        every task, task 0 too
 *      OPEN, PLAN, RUN, ... -->  lead.h: sessions, numbers of runs  -->    session_parts.h: parts of sessions
 *                           <--  answers, after counting the votes  <--    their answers and votes
 *                                                                          values: from part to part
 *
 *  Each task has one thread that takes all messages, in order, and never waits for a run. The thread of a part does the
 *  work that may take long. */
#ifndef MUSTER_SESSIONS_SERVICE_H
#define MUSTER_SESSIONS_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "messages/task_message.h"
#include "muster/server.h"
#include "muster/store.h"
#include "sessions/session_message.h"

typedef struct mst_session_parts mst_session_parts;
typedef struct mst_lead mst_lead;

struct mst_task_server {
    mst_cluster *cluster;
    int32_t num_tasks, self;
    char *device_spec, *visible_devices, *target;
    int64_t memory_limit;
    FILE *log;
    uint64_t process; /* the process in which the server was made; a child of fork must not use or free it */
    mst_store *store;
    mst_task_status status;
    bool has_status;
    mst_mail *mail;
    mst_task_devices devices; /* of this task */
    pthread_t thread;
    bool has_thread;
    atomic_bool stopping;
    /* used by the thread */
    mst_session_parts *parts;
    mst_lead *lead; /* NULL: another task leads */
    /* number of the last HELLO, with which this task tells the leader its devices (sessions/session_message.h). The
     * leader's messages carry it; those with an older number are dropped */
    uint64_t hello;
    uint32_t taken;          /* number of messages taken from the leader since that HELLO */
    mst_task_message *early; /* messages of the leader that came too soon: others, sent before them, are on their way */
    bool hears_leader;       /* the leader has sent a message since HELLO */
    int64_t next_complaint;  /* when the log is told again for whom the task waits */
    /* for mst_task_server_join */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool joins, ended; /* it has joined; the job or the server has ended */
};

/** Sends a message with the body that WRITER has (NULL: none), and frees that body. If there is no memory for it, the
 *  log says so; the receiver waits only until its own time limit. */
void mst_service_send(mst_task_server *server, int32_t to, const mst_task_message_head *head, mst_wire_writer *writer);
void mst_service_log(const mst_task_server *server, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Writes "worker:1 at localhost:2223" to TEXT of SIZE bytes, and returns TEXT. */
const char *mst_service_name(const mst_task_server *server, int32_t task, char *text, size_t size);

#endif
