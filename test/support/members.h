/** Members of a group that are threads of the test, over transports of support/tasks.h: each has a window of the
 *  shards, and its own group. */
#ifndef MUSTER_TEST_SUPPORT_MEMBERS_H
#define MUSTER_TEST_SUPPORT_MEMBERS_H

#include <stdatomic.h>

#include "collective/group.h"
#include "support/tasks.h"
#include "support/test.h"

typedef struct members members;

typedef struct member {
    members *all;
    int32_t self;
    mst_task_group *group;
    void *context; /**< the test's */
    pthread_t thread;
} member;

struct members {
    tasks tasks;
    mst_transport_type counting; /**< the type of the tasks, counting and refusing what members send */
    int32_t count, num_shards;
    mst_shards window[MOST_TASKS];
    member member[MOST_TASKS];
    atomic_int sent[MOST_TASKS], before_refusal;
    atomic_llong sent_bytes[MOST_TASKS];
};

/** Runs the tests over each type of transport; returns how many fail. */
int members_run_tests(const struct CMUnitTest *tests, size_t count);
/** The transport of the tests that run now. */
const mst_transport_type *members_transport(void);

/** Cuts the shards into COUNT windows at random (SEED), with at least one shard each; 0: as evenly as it goes. */
void cut_windows(mst_shards *window, int32_t count, int32_t num_shards, unsigned seed);

/** Opens COUNT tasks with windows that are cut by SEED, and makes their groups; generation 1 has begun. */
void members_open(members *all, int32_t count, int32_t num_shards, unsigned seed);
/** The same with these windows, over transport TYPE. */
void members_open_windows(members *all, const mst_transport_type *type, int32_t count, const mst_shards *window);
void members_close(members *all);
/** Calls BODY for each member on a thread of its own, and waits for all. */
void members_run(members *all, void (*body)(member *m));
/** Ends the generation of one member with MST_UNAVAILABLE, "task N is lost". */
void member_end(member *m, int lost);
/** Begins GENERATION for all: none of them runs. */
void members_begin(members *all, uint32_t generation);
/** Makes GENERATIONS one after the other; the first has begun already. In each, BODY is called for all members until
 *  together they have sent a random number of messages below MOST. Then member_end ends the generation for one member
 *  after the other. */
void members_end_at_random(members *all, uint32_t generations, int most, void (*body)(member *m));
/** Data messages that member I has sent. */
int member_sent(const members *all, int32_t i);
/** Their bytes. */
long long member_sent_bytes(const members *all, int32_t i);

/** The send that follows AFTER others fails, by whichever member; -1: none does. */
void members_refuse_send(members *all, int after);

/** A time that must not come in a test. */
int64_t member_deadline(void);
/** Another number at each call, from *STATE. */
uint32_t next_random(uint64_t *state);

#endif
