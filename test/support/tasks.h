/** Tasks of a cluster that are threads of the test, each with a transport, which keep what they are told. */
#ifndef MUSTER_TEST_SUPPORT_TASKS_H
#define MUSTER_TEST_SUPPORT_TASKS_H

#include <pthread.h>

#include "transport/transport.h"

enum { MOST_TASKS = 40, TASK_SECONDS = 30 };

typedef enum told_kind {
    TOLD_CONTROL,
    TOLD_CONNECTED,
    TOLD_LOST,
    TOLD_MISMATCH,
    TOLD_TAKEN,
    TOLD_LIST_MISMATCH,
    TOLD_STRANGER
} told_kind;

/** What a task was told. */
typedef struct told {
    struct told *next;
    told_kind kind;
    int32_t from;
    pthread_t by; /**< on which it was told */
    uint64_t instance;
    mst_key key;
    size_t bytes;
    char data[]; /**< a control message, or why; ended by 0 */
} told;

enum { MOST_MEMORIES = 4 };

typedef struct task {
    struct tasks *all;
    int32_t self;
    mst_transport *transport;
    void *memory[MOST_MEMORIES]; /* NULL: none */
    bool echoes;
    pthread_mutex_t lock;
    pthread_cond_t more;
    told *first, **last;
} task;

typedef struct tasks {
    const mst_transport_type *type;
    int32_t count;
    const char *address[MOST_TASKS];
    int hold[MOST_TASKS];          /* sockets that hold the ports */
    mst_transport_options options; /**< for all; what belongs to a task is set when it opens */
    task task[MOST_TASKS];
} tasks;

/** Finds addresses for COUNT tasks, and opens none. OPTIONS: the ones that are not the default; NULL: none. */
void tasks_make(tasks *all, const mst_transport_type *type, int32_t count, const mst_transport_options *options);
/** A task's "host:port", and as many of ports that nobody else gets until the process ends; skips the test where no
 *  transport can use them. */
typedef char task_address[32];
void tasks_find_addresses(task_address *address, int32_t count);
/** From now on the tasks that are made have these keys, which stay the caller's; NULL: none. */
void tasks_use_keys(const mst_cluster_keys *keys);
/** The keys of a cluster, from NUMBER. */
mst_cluster_keys tasks_keys(unsigned char number);
/** The token of a user, from NUMBER. */
mst_cluster_keys tasks_token(unsigned char number);
/** Opens task I as INSTANCE. */
mst_status task_open(tasks *all, int32_t i, uint64_t instance);
/** tasks_make, and opens each task I as instance I + 100, with generation 1 begun. Where data can go through shared
 *  memory, a few tasks are linked. */
void tasks_open(tasks *all, const mst_transport_type *type, int32_t count, const mst_transport_options *options);
void task_close(tasks *all, int32_t i, double seconds);
/** Closes those that are open. */
void tasks_close(tasks *all);

/** The NUMBERth thing (from 0) of KIND about FROM (-1: anyone) that the task is told; waits for it, and fails the test
 *  where it does not come. */
const told *task_told(task *t, told_kind kind, int32_t from, int number);
/** How many there have been so far. */
int task_count(task *t, told_kind kind, int32_t from);

/** BYTES of zeros from which task I sends, and which are freed when it is closed: the transport's where it has any. */
void *task_memory(tasks *all, int32_t i, size_t bytes);
/** Waits until data from task I to task TO go through shared memory. */
void task_link(tasks *all, int32_t i, int32_t to);

/** From now on task I sends each control message back. */
void task_echo(tasks *all, int32_t i);
/** Calls of the transport of task I that must succeed. */
void task_say(tasks *all, int32_t i, int32_t to, const char *text);
void task_send(tasks *all, int32_t i, int32_t to, mst_key key, const void *data, size_t bytes, mst_timeline *done);
void task_post(tasks *all, int32_t i, int32_t from, mst_key key, void *into, size_t bytes, mst_timeline *done);
/** DONE is at VALUE within TASK_SECONDS, or the test fails. */
void task_wait(mst_timeline *done, uint64_t value);

#endif
