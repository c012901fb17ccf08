/* For each job the caller cuts the items into runs of GRAIN items, and gives each member a block of neighbouring runs.
 * Two timelines (base/timeline.h) carry the signals:
 *
 *      begun   number of jobs started: the caller advances it, members wait for the next one
 *      done    number of runs done in all jobs: members add to it, the caller waits until it has all runs of its job
 *
 * A member takes runs first from its own block and then from other blocks, each with one compare-and-swap. The
 * caller is a member too, so a job ends even if no other thread gets a core. */
#include "base/team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "base/signal_mask.h"
#include "base/thread.h"
#include "base/timeline.h"

typedef struct member {
    mst_team *team;
    int number;
    pthread_t thread;
} member;

/* A member's runs of a job: neighbouring runs. Each block has a cache line of its own. A member takes its own runs
 * first, so that it touches the same part of an array from job to job, and then helps with those of others. The upper
 * 32 bits of `ticket` are the number of the job, the lower 32 bits the number of runs that no member has taken yet. A
 * member that wakes late takes no run of a finished job, because no block of that job has runs left. */
typedef struct block {
    _Alignas(64) _Atomic uint64_t ticket;
    uint32_t first, count; /* runs */
    int64_t n, grain;      /* the job has N items, in runs of GRAIN */
    mst_team_body body;
    void *context;
} block;

/* Whether the other members help. If a core is busy with another program, its member is late, and all wait for its run.
 * The time that jobs took is summed over some milliseconds. It is compared with the time that the caller would have
 * needed alone, estimated from its own runs. If the caller alone would be faster, it works alone for a while. This
 * pause grows each time that this happens. */
typedef struct judgement {
    int64_t spent; /* nanoseconds of jobs since the last judgement */
    double alone;  /* nanoseconds that the caller alone would have needed for them */
    int64_t pause; /* nanoseconds for which the caller works alone after the next judgement against the others */
    int64_t until; /* time at which it works with them again */
} judgement;

static const double WORTH = 1.05; /* smaller differences are within the noise of the measurement */
/* Nanoseconds of jobs after which they are judged, and limits of the pause. */
enum { JUDGED_AFTER = 4 * 1000 * 1000, LEAST_PAUSE = 16 * 1000 * 1000, MOST_PAUSE = 256 * 1000 * 1000 };

struct mst_team {
    mst_timeline begun;                /* number of jobs started */
    mst_timeline done;                 /* number of runs done in all jobs */
    _Alignas(64) uint64_t runs_before; /* number of runs of all jobs before this one */
    judgement judgement;
    atomic_bool failed;
    pthread_mutex_t lock; /* protects failed_run and failure */
    int64_t failed_run;
    mst_failure failure; /* the error of failed_run */
    /* constant after creation */
    int size, started; /* members, and threads that were started for them: the caller needs none */
    bool spin;
    mst_team_begin begin;
    void *begin_context;
    atomic_bool quit;
    member *members; /* [size - 1] */
    block *blocks;   /* [size] */
};

static void keep_failure(mst_team *team, int64_t run, mst_status status) {
    pthread_mutex_lock(&team->lock);
    if (!atomic_load(&team->failed) || run < team->failed_run) {
        mst_failure_keep(&team->failure, status);
        team->failed_run = run;
        atomic_store(&team->failed, true);
    }
    pthread_mutex_unlock(&team->lock);
}

/* Takes the next run of the block for job JOB; false if there is none left. */
static bool team_take(block *b, uint32_t job, uint32_t *run) {
    uint64_t ticket = atomic_load_explicit(&b->ticket, memory_order_acquire);
    do {
        if ((uint32_t)(ticket >> 32) != job || (uint32_t)ticket == 0) return false;
    } while (!atomic_compare_exchange_weak(&b->ticket, &ticket, ticket - 1));
    *run = b->first + b->count - (uint32_t)ticket;
    return true;
}

/* Does runs of the job as member NUMBER, and returns how many it did. */
static uint64_t share(mst_team *team, uint32_t job, int number) {
    const uint64_t errors = mst_error_count();
    uint64_t done = 0;
    uint32_t run;
    for (int i = 0; i < team->size; i++) {
        block *b = &team->blocks[(number + i) % team->size];
        while (team_take(b, job, &run)) {
            const int64_t begin = run * b->grain, rest = b->n - begin;
            mst_status status = b->body(b->context, begin, begin + (rest < b->grain ? rest : b->grain), number);
            if (status) keep_failure(team, run, mst_error_complete(status, errors));
            done++;
        }
    }
    if (done) mst_timeline_add(&team->done, done);
    return done;
}

static void *work(void *context) {
    const member *self = context;
    mst_team *team = self->team;
    mst_signals_never();
    mst_flush_denormals();
    if (team->begin && team->begin(team->begin_context, self->number)) return NULL;
    for (uint64_t job = 0;;) {
        mst_timeline_wait(&team->begun, job + 1, MST_NEVER, team->spin);
        job = mst_timeline_value(&team->begun); /* read before `quit`, which is set before the last number */
        if (atomic_load(&team->quit)) return NULL;
        share(team, (uint32_t)job, self->number);
    }
}

mst_status mst_team_create(int size, bool spin, mst_team_begin begin, void *context, mst_team **out) {
    *out = NULL;
    mst_team *team = aligned_alloc(64, (sizeof *team + 63) / 64 * 64);
    member *members = calloc((size_t)size, sizeof *members);
    block *blocks = aligned_alloc(64, (size_t)size * sizeof *blocks);
    if (!team || !members || !blocks) {
        free(team);
        free(members);
        free(blocks);
        return MST_NO_MEMORY("for %d threads", size);
    }
    memset(team, 0, sizeof *team);
    memset(blocks, 0, (size_t)size * sizeof *blocks);
    pthread_mutex_init(&team->lock, NULL);
    team->size = size;
    team->spin = spin;
    team->judgement.pause = LEAST_PAUSE;
    team->begin = begin;
    team->begin_context = context;
    team->members = members;
    team->blocks = blocks;
    for (int i = 1; i < size; i++, team->started++) {
        members[i - 1] = (member){.team = team, .number = i};
        if (!mst_thread_start(&members[i - 1].thread, work, &members[i - 1])) continue;
        mst_team_destroy(team);
        return MST_FAIL(MST_OUT_OF_MEMORY,
                        "cannot start thread %d of %d of a device: allow more threads (ulimit -u) or use fewer", i + 1,
                        size);
    }
    *out = team;
    return MST_OK;
}

void mst_team_destroy(mst_team *team) {
    if (!team) return;
    atomic_store(&team->quit, true);
    mst_timeline_add(&team->begun, 1);
    for (int i = 0; i < team->started; i++) pthread_join(team->members[i].thread, NULL);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team->blocks);
    free(team);
}

int mst_team_size(const mst_team *team) {
    return team ? team->size : 1;
}

static void give_out(mst_team *team, int64_t n, int64_t grain, uint64_t runs, mst_team_body body, void *context) {
    const uint64_t size = (uint64_t)team->size, job = mst_timeline_value(&team->begun) + 1;
    atomic_store_explicit(&team->failed, false, memory_order_relaxed);
    for (uint64_t i = 0; i < size; i++) {
        block *b = &team->blocks[i];
        b->n = n;
        b->grain = grain;
        b->body = body;
        b->context = context;
        b->first = (uint32_t)(i * runs / size);
        b->count = (uint32_t)((i + 1) * runs / size) - b->first;
        atomic_store_explicit(&b->ticket, job << 32 | b->count, memory_order_release);
    }
    mst_timeline_advance(&team->begun, job);
}

static mst_status run_alone(int64_t n, int64_t grain, mst_team_body body, void *context) {
    for (int64_t begin = 0; begin < n; begin += grain)
        MST_TRY(body(context, begin, n - begin < grain ? n : begin + grain, 0));
    return MST_OK;
}

/* Judges a job of RUNS runs that took from BEGUN to NOW. The caller worked until WORKED and did OWN of the runs. */
static void judge(judgement *j, int64_t begun, int64_t worked, int64_t now, uint64_t runs, uint64_t own) {
    j->spent += now - begun;
    j->alone += (double)(worked - begun) * (double)runs / (double)(own ? own : 1);
    if (j->spent < JUDGED_AFTER) return;
    if ((double)j->spent > WORTH * j->alone) {
        j->until = now + j->pause;
        j->pause = j->pause < MOST_PAUSE ? 2 * j->pause : MOST_PAUSE;
    } else {
        j->pause = LEAST_PAUSE;
    }
    j->spent = 0;
    j->alone = 0;
}

mst_status mst_team_run(mst_team *team, int64_t n, int64_t grain, mst_team_body body, void *context) {
    if (n <= 0) return MST_OK;
    if (!team || team->size == 1 || n <= grain) return body(context, 0, n, 0);
    const int64_t begun = mst_clock_now();
    if (begun < team->judgement.until) return run_alone(n, grain, body, context);
    while ((n + grain - 1) / grain > UINT32_MAX / 2) grain *= 2;
    const uint64_t runs = (uint64_t)((n + grain - 1) / grain);
    give_out(team, n, grain, runs, body, context);
    const uint64_t own = share(team, (uint32_t)mst_timeline_value(&team->begun), 0);
    const int64_t worked = mst_clock_now();
    team->runs_before += runs;
    const bool at_once = mst_timeline_value(&team->done) >= team->runs_before;
    mst_timeline_wait(&team->done, team->runs_before, MST_NEVER, team->spin);
    judge(&team->judgement, begun, worked, at_once ? worked : mst_clock_now(), runs, own);
    return atomic_load(&team->failed) ? mst_failure_restore(&team->failure) : MST_OK;
}
