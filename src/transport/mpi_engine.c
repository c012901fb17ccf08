#include "transport/mpi_engine.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "transport/service_thread.h"

enum {
    SLOTS = 16,  /* receives of packets, always under way */
    PACKETS = 0, /* tag of packets */
    HEADER = offsetof(mst_mpi_packet, bytes)
};
/* Nanoseconds. SPIN: how long the thread polls without sleeping after bytes have moved. SHORTEST to LONGEST: its sleep
 * between two polls while it waits for something. IDLE: its sleep while it waits for nothing. */
static const int64_t SPIN = 200000, SHORTEST = 20000, LONGEST = 500000, IDLE = 10000000;
/* the longest waits for the start of MPI, for jobs (mst_mpi_hurry), and for its end */
static const double START_SECONDS = 60, HURRY_SECONDS = 0.5, STOP_SECONDS = 2;

typedef enum engine_state {
    NEW,
    WAITING, /* until mst_mpi_begin is called */
    STARTING,
    RUNNING,
    FAILED,
    OVER /* no more calls of MPI */
} engine_state;

/* What each rank tells all others about itself. */
typedef struct place {
    int32_t task, num_tasks;
} place;

/* A process has one engine, as it has one MPI. */
static struct {
    pthread_mutex_t lock;    /* guards all members after it */
    pthread_cond_t wake;     /* the thread has something to do */
    pthread_cond_t changed;  /* the state has changed */
    pthread_mutex_t calling; /* held while a client is called; guards the list of clients. Taken before `lock` */
    engine_state state;
    bool stopping;  /* the thread must end */
    bool finalizes; /* and end MPI, with all other processes */
    bool expects;   /* a caller has begun to wait for a message */
    bool (*stop)(void *context);
    void *stop_context;
    mst_mpi_job *first, **last;
    int64_t unfinished; /* submitted jobs that are not done */
    int hurrying;       /* callers that wait for all jobs (mst_mpi_hurry) */
    int64_t hurried_since;
    mst_mpi_client *clients;
    int32_t num_clients; /* so far, with those that have left */
    place own;
    int pmi; /* PMI_FD if no launcher has set it; -1: a launcher has */
    int next_tag, most_tag;
    char error[512];
    /* used only by the thread, once it runs */
    bool ours; /* whether this engine has started MPI */
    MPI_Comm comm;
    int rank, size;
    int count, capacity;
    MPI_Request *request; /* [capacity]: first the requests of the slots, then those of jobs */
    mst_mpi_job **job;    /* like request; NULL for a slot */
    int *index;           /* [capacity] results of MPI_Testsome, like status */
    MPI_Status *status;
    mst_mpi_packet *slot; /* [SLOTS] */
    bool moved;           /* something has moved in this round, or is expected */
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .calling = PTHREAD_MUTEX_INITIALIZER,
            .last = &engine.first,
            .pmi = -1,
            .next_tag = PACKETS};

/* ---- requests ---- */

static bool engine_make_room(void) {
    if (engine.count < engine.capacity) return true;
    const size_t n = 2 * (size_t)engine.capacity + 2 * SLOTS;
    MPI_Request *request = realloc(engine.request, n * sizeof *request);
    if (request) engine.request = request;
    mst_mpi_job **job = realloc(engine.job, n * sizeof(mst_mpi_job *));
    if (job) engine.job = job;
    int *index = realloc(engine.index, n * sizeof *index);
    if (index) engine.index = index;
    MPI_Status *status = realloc(engine.status, n * sizeof *status);
    if (status) engine.status = status;
    if (!request || !job || !index || !status) return false;
    engine.capacity = (int)n;
    return true;
}

static void finish_job(mst_mpi_job *job, bool whole) {
    job->done(job, whole);
    pthread_mutex_lock(&engine.lock);
    if (--engine.unfinished == 0) pthread_cond_broadcast(&engine.changed);
    pthread_mutex_unlock(&engine.lock);
}

static void begin_job(mst_mpi_job *job) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int bytes = (int)job->bytes;
    int error = engine_make_room() ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!error && job->receives)
        error = MPI_Irecv(job->data, bytes, MPI_BYTE, job->rank, job->tag, engine.comm, &request);
    else if (!error)
        error = MPI_Isend(job->data, bytes, MPI_BYTE, job->rank, job->tag, engine.comm, &request);
    if (error) {
        finish_job(job, false);
        return;
    }
    engine.request[engine.count] = request;
    engine.job[engine.count++] = job;
}

static bool receive_packet(int slot) {
    engine.job[slot] = NULL;
    return MPI_Irecv(&engine.slot[slot], sizeof(mst_mpi_packet), MPI_BYTE, MPI_ANY_SOURCE, PACKETS, engine.comm,
                     &engine.request[slot]) == MPI_SUCCESS;
}

static const mst_mpi_client *find_client(int32_t task) {
    const mst_mpi_client *c = engine.clients;
    while (c && c->task != task) c = c->next;
    return c;
}

/* Whether C accepts PACKET. If tasks are threads, a task with the sender's number must be open now, and be the one that
 * has sent the packet. */
static bool takes(const mst_mpi_client *c, const mst_mpi_packet *packet) {
    const mst_mpi_client *from = c->threads ? find_client(packet->from) : NULL;
    if (c->threads) return from && from->serial == packet->serial;
    return packet->from >= 0 && packet->from < c->num_tasks;
}

/* Passes a packet to its task. It is dropped if the task has left. */
static void take_packet(const mst_mpi_packet *packet, const MPI_Status *status) {
    int bytes = 0;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes < HEADER || packet->num_bytes != (uint32_t)bytes - HEADER) return;
    pthread_mutex_lock(&engine.calling);
    const mst_mpi_client *c = find_client(packet->to);
    if (c && takes(c, packet)) c->packet(c->context, packet);
    pthread_mutex_unlock(&engine.calling);
}

static void end_request(int i, const MPI_Status *status, bool good) {
    mst_mpi_job *job = engine.job[i];
    int cancelled = 0, bytes = 0;
    if (i < SLOTS) {
        if (good) take_packet(&engine.slot[i], status);
        receive_packet(i);
        return;
    }
    if (job->receives) {
        MPI_Test_cancelled(status, &cancelled);
        if (!cancelled && good) MPI_Get_count(status, MPI_BYTE, &bytes);
        good = good && !cancelled && (size_t)bytes == job->bytes;
    }
    engine.job[i] = NULL;
    finish_job(job, good);
}

/* Takes the requests that have ended. */
static void look(void) {
    int num = 0;
    const int error = MPI_Testsome(engine.count, engine.request, &num, engine.index, engine.status);
    if ((error && error != MPI_ERR_IN_STATUS) || num == MPI_UNDEFINED || num <= 0) return;
    engine.moved = true;
    for (int k = 0; k < num; k++)
        end_request(engine.index[k], &engine.status[k], !error || engine.status[k].MPI_ERROR == MPI_SUCCESS);
    int kept = SLOTS;
    for (int i = SLOTS; i < engine.count; i++) {
        if (!engine.job[i]) continue;
        engine.request[kept] = engine.request[i];
        engine.job[kept++] = engine.job[i];
    }
    engine.count = kept;
}

void mst_mpi_cancel(int rank, int tag) {
    for (int i = SLOTS; i < engine.count; i++) {
        const mst_mpi_job *job = engine.job[i];
        if (job && job->receives && job->rank == rank && job->tag == tag) MPI_Cancel(&engine.request[i]);
    }
}

/* ---- the thread ---- */

static mst_mpi_job *take_jobs(void) {
    mst_mpi_job *first = engine.first;
    engine.first = NULL;
    engine.last = &engine.first;
    return first;
}

static void begin_jobs(mst_mpi_job *first) {
    for (mst_mpi_job *next; first; first = next) {
        next = first->next;
        engine.moved = true;
        begin_job(first);
    }
}

static bool is_busy(void) {
    bool busy = engine.count > SLOTS;
    pthread_mutex_lock(&engine.calling);
    for (const mst_mpi_client *c = engine.clients; c && !busy; c = c->next) busy = c->waits(c->context);
    pthread_mutex_unlock(&engine.calling);
    return busy;
}

/* Sleeps until there is a job, or NANOSECONDS have passed. */
static void sleep_for(int64_t nanoseconds) {
    const struct timespec until = mst_clock_timespec(nanoseconds);
    pthread_mutex_lock(&engine.lock);
    if (!engine.first && !engine.stopping && !engine.expects)
        pthread_cond_timedwait(&engine.wake, &engine.lock, &until);
    pthread_mutex_unlock(&engine.lock);
}

/* Whether a caller that waits for the jobs has waited too long. Under the lock. */
static bool is_stuck(void) {
    const bool has_jobs = engine.first || engine.count > SLOTS;
    return has_jobs && engine.hurrying && (double)(mst_clock_now() - engine.hurried_since) > HURRY_SECONDS * 1e9;
}

/* Whether the thread must end. Messages sent last must have gone before MPI ends. Under the lock. */
static bool has_ended(void) {
    if (is_stuck()) return true;
    if (!engine.stopping) return false;
    const bool is_empty = !engine.first && engine.count == SLOTS;
    return !engine.finalizes || is_empty || engine.stop(engine.stop_context);
}

/* Runs until the engine must end. */
static void run_loop(void) {
    int64_t moved_at = mst_clock_now(), pause = SHORTEST;
    for (bool ends = false; !ends;) {
        pthread_mutex_lock(&engine.lock);
        ends = has_ended();
        mst_mpi_job *jobs = ends ? NULL : take_jobs();
        engine.moved = engine.expects;
        engine.expects = false;
        pthread_mutex_unlock(&engine.lock);
        begin_jobs(jobs);
        if (!ends) look();
        if (engine.moved) {
            moved_at = mst_clock_now();
            pause = SHORTEST;
        } else if (mst_clock_now() - moved_at < SPIN) {
            sched_yield();
        } else {
            sleep_for(is_busy() ? pause : IDLE);
            pause = 2 * pause < LONGEST ? 2 * pause : LONGEST;
        }
    }
}

/* Whether one of the processes will never call mst_mpi_leave, so that waiting for it is of no use. */
static bool one_stays_away(void) {
    pthread_mutex_lock(&engine.lock);
    const bool stopped = engine.stop(engine.stop_context);
    pthread_mutex_unlock(&engine.lock);
    return stopped;
}

/* Waits until all processes have called this function. False: one of them never will. */
static bool all_leave(void) {
    MPI_Request request;
    int done = 0;
    if (MPI_Ibarrier(engine.comm, &request)) return false;
    while (!done && !one_stays_away()) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE)) return false;
        if (!done) sleep_for(SHORTEST);
    }
    return done;
}

static void end_mpi(void) {
    for (int i = 0; i < SLOTS; i++) {
        MPI_Cancel(&engine.request[i]);
        MPI_Wait(&engine.request[i], MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&engine.comm);
    if (engine.ours) MPI_Finalize();
}

/* Enters state LAST: from now on the only calls of MPI are those that end it. Unfinished jobs are done without their
 * bytes. */
static void give_up_jobs(engine_state last) {
    pthread_mutex_lock(&engine.lock);
    engine.state = last;
    pthread_cond_broadcast(&engine.changed);
    mst_mpi_job *first = take_jobs();
    pthread_mutex_unlock(&engine.lock);
    for (mst_mpi_job *next; first; first = next) {
        next = first->next;
        finish_job(first, false);
    }
    for (int i = SLOTS; i < engine.count; i++) finish_job(engine.job[i], false);
}

/* ---- the start ---- */

static bool engine_fail(const char *format, int a, int b, int c, int d) {
    snprintf(engine.error, sizeof engine.error, format, a, b, c, d);
    return false;
}

/* Initialises MPI. If no launcher has set the variables of PMI-1, this function sets them, so that MPI sends its
 * requests to this process (mpi_meeting.h). Afterwards it removes them: programs started by this one must not join its
 * MPI. */
static bool init_mpi(int *level) {
    static const char *const variables[] = {"PMI_FD", "PMI_RANK", "PMI_SIZE"};
    const int values[] = {engine.pmi, engine.own.task, engine.own.num_tasks};
    char text[16];
    for (int i = 0; i < 3 && engine.pmi >= 0; i++) {
        snprintf(text, sizeof text, "%d", values[i]);
        setenv(variables[i], text, 1);
    }
    const int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, level);
    for (int i = 0; i < 3 && engine.pmi >= 0; i++) unsetenv(variables[i]);
    return !error;
}

static bool start_mpi(void) {
    int started = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&started);
    engine.ours = !started;
    if (!started && !init_mpi(&level)) return engine_fail("MPI cannot be started: see what it has printed", 0, 0, 0, 0);
    if (started) MPI_Query_thread(&level);
    if (level < (started ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED))
        return engine_fail(
            started ? "the program has started MPI for calls of one thread: start it with MPI_Init_thread and "
                      "MPI_THREAD_MULTIPLE, or leave that to Muster"
                    : "this MPI does not work in programs with threads: take one that does",
            0, 0, 0, 0);
    if (MPI_Comm_dup(MPI_COMM_WORLD, &engine.comm)) return engine_fail("MPI cannot make a communicator", 0, 0, 0, 0);
    MPI_Comm_set_errhandler(engine.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(engine.comm, &engine.rank);
    MPI_Comm_size(engine.comm, &engine.size);
    int *most = NULL, there = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &there);
    engine.most_tag = there ? *most : 32767;
    return true;
}

/* Whether task numbers and ranks are the same in all processes. Each rank compares the places of all, so all come to
 * the same result. */
static bool compare_places(void) {
    place *all = calloc((size_t)engine.size, sizeof *all);
    bool good = all != NULL;
    if (!good) return engine_fail("no memory for the tasks of MPI", 0, 0, 0, 0);
    if (MPI_Allgather(&engine.own, sizeof *all, MPI_BYTE, all, sizeof *all, MPI_BYTE, engine.comm))
        good = engine_fail("the processes of MPI cannot reach each other", 0, 0, 0, 0);
    if (good && engine.pmi >= 0 && engine.size != engine.own.num_tasks)
        good = engine_fail(
            "MPI has %d processes, and not those of the %d tasks: leave its start to Muster, or start the "
            "tasks with mpiexec",
            engine.size, engine.own.num_tasks, 0, 0);
    for (int i = 0; i < engine.size && good; i++)
        if (all[i].num_tasks && (all[i].task != i || all[i].num_tasks != engine.size))
            good = engine_fail(
                "rank %d of the %d of MPI runs as task %d of %d: under mpiexec and srun leave TF_CONFIG and "
                "--worker-hosts out, or number the tasks as the ranks",
                i, engine.size, all[i].task, all[i].num_tasks);
    free(all);
    if (!good && engine.ours) MPI_Finalize();
    return good;
}

static bool start(void) {
    if (!start_mpi() || !compare_places()) return false;
    engine.slot = calloc(SLOTS, sizeof *engine.slot);
    if (!engine.slot || !engine_make_room()) return engine_fail("no memory for the messages of MPI", 0, 0, 0, 0);
    engine.count = SLOTS;
    for (int i = 0; i < SLOTS; i++)
        if (!receive_packet(i)) return engine_fail("MPI cannot receive messages", 0, 0, 0, 0);
    return true;
}

static void set_state(engine_state state) {
    pthread_mutex_lock(&engine.lock);
    engine.state = state;
    pthread_cond_broadcast(&engine.changed);
    pthread_mutex_unlock(&engine.lock);
}

static void await_begin(void) {
    pthread_mutex_lock(&engine.lock);
    while (engine.state == WAITING) pthread_cond_wait(&engine.wake, &engine.lock);
    pthread_mutex_unlock(&engine.lock);
}

static void tell_failure(void) {
    pthread_mutex_lock(&engine.calling);
    for (const mst_mpi_client *c = engine.clients; c; c = c->next)
        if (c->failed) c->failed(c->context, engine.error);
    pthread_mutex_unlock(&engine.calling);
}

static void *run_engine(void *context) {
    (void)context;
    prctl(PR_SET_TIMERSLACK, 1000UL); /* the kernel then does not prolong short sleeps */
    await_begin();
    if (!start()) {
        give_up_jobs(FAILED);
        tell_failure();
        return NULL;
    }
    set_state(RUNNING);
    run_loop();
    give_up_jobs(OVER);
    if (engine.finalizes && all_leave()) end_mpi();
    pthread_mutex_lock(&engine.lock);
    engine.stopping = engine.finalizes = false;
    pthread_cond_broadcast(&engine.changed);
    pthread_mutex_unlock(&engine.lock);
    return NULL;
}

/* Waits until the thread makes no more calls, for SECONDS at most. Under the lock. */
static void stop_thread(double seconds) {
    const struct timespec until = mst_clock_timespec((int64_t)(seconds * 1e9));
    engine.stopping = true;
    pthread_cond_broadcast(&engine.wake);
    for (int late = 0; engine.stopping && !late;) late = pthread_cond_timedwait(&engine.changed, &engine.lock, &until);
}

/* Called when the program ends: stops the thread if MPI has not ended. */
static void stop_at_exit(void) {
    pthread_mutex_lock(&engine.lock);
    if (engine.state == RUNNING) stop_thread(STOP_SECONDS);
    pthread_mutex_unlock(&engine.lock);
}

/* Starts the thread, which starts MPI. Under the lock. */
static mst_status start_engine(const mst_mpi_client *client) {
    pthread_t thread;
    mst_condition_init(&engine.wake);
    mst_condition_init(&engine.changed);
    if (!client->threads) engine.own = (place){client->task, client->num_tasks};
    MST_TRY(mst_service_thread_start(run_engine, NULL, &thread));
    pthread_detach(thread);
    atexit(stop_at_exit);
    engine.state = client->begins_later ? WAITING : STARTING;
    return MST_OK;
}

/* The error if MPI could not be started, or has ended. Under the lock. */
static mst_status check_end(void) {
    if (engine.state == FAILED) return MST_FAIL(MST_INVALID, "transport mpi: %s", engine.error);
    if (engine.state == OVER)
        return MST_FAIL(MST_UNAVAILABLE, "transport mpi: MPI has ended in this process, and cannot be started again");
    return MST_OK;
}

/* Waits until MPI has started in all its processes. Under the lock. */
static mst_status await_start(void) {
    const struct timespec until = mst_clock_timespec((int64_t)(START_SECONDS * 1e9));
    for (int late = 0; engine.state == STARTING && !late;)
        late = pthread_cond_timedwait(&engine.changed, &engine.lock, &until);
    if (engine.state == STARTING)
        return MST_FAIL(MST_UNAVAILABLE, "transport mpi: not all processes of MPI have come within %g s",
                        START_SECONDS);
    return check_end();
}

mst_status mst_mpi_join(mst_mpi_client *client) {
    pthread_mutex_lock(&engine.lock);
    mst_status status = engine.state == NEW ? start_engine(client) : MST_OK;
    if (!status) status = client->begins_later ? check_end() : await_start();
    if (engine.state == WAITING) engine.own = (place){client->task, client->num_tasks};
    const place own = engine.own;
    pthread_mutex_unlock(&engine.lock);
    if (!status && !client->threads && (own.task != client->task || own.num_tasks != client->num_tasks))
        status = MST_FAIL(MST_INVALID, "transport mpi: this process is task %d of %d already, and cannot be %d of %d",
                          own.task, own.num_tasks, client->task, client->num_tasks);
    if (status) return status;
    pthread_mutex_lock(&engine.calling);
    client->serial = ++engine.num_clients;
    client->next = engine.clients;
    engine.clients = client;
    pthread_mutex_unlock(&engine.calling);
    return MST_OK;
}

void mst_mpi_begin(int descriptor) {
    pthread_mutex_lock(&engine.lock);
    if (engine.state == WAITING) {
        engine.pmi = descriptor;
        engine.state = STARTING;
        pthread_cond_broadcast(&engine.wake);
    }
    pthread_mutex_unlock(&engine.lock);
}

static bool stop_now(void *context) {
    (void)context;
    return true;
}

/* Waits until MPI has ended. If another process ends before, MPI may wait for it forever. Under the lock. */
static void await_end(void) {
    int64_t gone_since = 0;
    while (engine.stopping) {
        const struct timespec until = mst_clock_timespec(IDLE);
        pthread_cond_timedwait(&engine.changed, &engine.lock, &until);
        if (!gone_since && engine.stop(engine.stop_context)) gone_since = mst_clock_now();
        if (gone_since && (double)(mst_clock_now() - gone_since) > STOP_SECONDS * 1e9) break;
    }
    engine.stop = stop_now;
}

void mst_mpi_leave(mst_mpi_client *client, bool finalize, bool (*stop)(void *context)) {
    pthread_mutex_lock(&engine.calling);
    mst_mpi_client **at = &engine.clients;
    while (*at && *at != client) at = &(*at)->next;
    if (*at) *at = client->next;
    pthread_mutex_unlock(&engine.calling);
    if (!finalize) return;
    pthread_mutex_lock(&engine.lock);
    if (engine.state == RUNNING) {
        engine.finalizes = engine.stopping = true;
        engine.stop = stop;
        engine.stop_context = client->context;
        pthread_cond_broadcast(&engine.wake);
        await_end();
    }
    pthread_mutex_unlock(&engine.lock);
}

/* ---- jobs ---- */

int mst_mpi_rank(const mst_mpi_client *client, int32_t task) {
    return client->threads ? engine.rank : (int)task;
}

int mst_mpi_tag(void) {
    pthread_mutex_lock(&engine.lock);
    const int tag = engine.next_tag = engine.next_tag < engine.most_tag ? engine.next_tag + 1 : PACKETS + 1;
    pthread_mutex_unlock(&engine.lock);
    return tag;
}

/* Whether no more calls of MPI are made. Under the lock. */
static bool is_over(void) {
    return engine.state == FAILED || engine.state == OVER;
}

void mst_mpi_submit(mst_mpi_job *job) {
    job->next = NULL;
    pthread_mutex_lock(&engine.lock);
    const bool over = is_over();
    if (!over) {
        *engine.last = job;
        engine.last = &job->next;
        engine.unfinished++;
        pthread_cond_signal(&engine.wake);
    }
    pthread_mutex_unlock(&engine.lock);
    if (over) job->done(job, false);
}

void mst_mpi_flush(double seconds) {
    const struct timespec until = mst_clock_timespec((int64_t)(seconds * 1e9));
    pthread_mutex_lock(&engine.lock);
    for (int late = 0; engine.unfinished && !late;)
        late = pthread_cond_timedwait(&engine.changed, &engine.lock, &until);
    pthread_mutex_unlock(&engine.lock);
}

void mst_mpi_expect(void) {
    pthread_mutex_lock(&engine.lock);
    engine.expects = true;
    pthread_cond_signal(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
}

void mst_mpi_hurry(bool begins) {
    pthread_mutex_lock(&engine.lock);
    if (begins && engine.hurrying++ == 0) engine.hurried_since = mst_clock_now();
    if (!begins) engine.hurrying--;
    pthread_mutex_unlock(&engine.lock);
}

bool mst_mpi_is_over(void) {
    pthread_mutex_lock(&engine.lock);
    const bool over = is_over();
    pthread_mutex_unlock(&engine.lock);
    return over;
}

/* ---- packets ---- */

typedef struct outgoing_packet {
    mst_mpi_job job;
    mst_mpi_packet packet;
} outgoing_packet;

static void free_packet(mst_mpi_job *job, bool whole) {
    (void)whole;
    free(job);
}

mst_mpi_packet *mst_mpi_packet_create(mst_mpi_kind kind, const mst_mpi_client *client, int32_t to, size_t num_bytes) {
    outgoing_packet *out = malloc(offsetof(outgoing_packet, packet.bytes) + num_bytes);
    if (!out) return NULL;
    memset(&out->packet, 0, HEADER);
    out->packet.kind = kind;
    out->packet.num_bytes = (uint32_t)num_bytes;
    out->packet.from = client->task;
    out->packet.to = to;
    out->packet.serial = client->serial;
    return &out->packet;
}

void mst_mpi_send(const mst_mpi_client *client, mst_mpi_packet *packet) {
    outgoing_packet *out = (outgoing_packet *)(void *)((char *)packet - offsetof(outgoing_packet, packet));
    out->job = (mst_mpi_job){.rank = mst_mpi_rank(client, packet->to),
                             .tag = PACKETS,
                             .data = packet,
                             .bytes = HEADER + packet->num_bytes,
                             .done = free_packet};
    mst_mpi_submit(&out->job);
}
