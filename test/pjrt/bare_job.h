/** A program that calls a PJRT plugin without Muster: two arrays are added on one device, and the sum is fetched from
 *  another. For tests of the plugin `shim`. */
#ifndef MUSTER_TEST_PJRT_BARE_JOB_H
#define MUSTER_TEST_PJRT_BARE_JOB_H

#include <pjrt_c_api.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "pjrt/shim.h"

enum { BARE_DEVICES = 2, BARE_COUNT = 4, BARE_MOST_MESSAGE = 512 };

/** The sources of the program and its result. */
extern const float bare_w[BARE_COUNT], bare_b[BARE_COUNT], bare_sum[BARE_COUNT];

/** The plugin, and what it has for tests, once it is loaded. */
extern const PJRT_Api *bare_api;
extern shim_set_faults_function *bare_set_faults;
extern shim_count_function *bare_count;

/** The first error of some calls. */
typedef struct bare_problem {
    PJRT_Error_Code code; /* PJRT_Error_Code_OK: there is none */
    char message[BARE_MOST_MESSAGE];
} bare_problem;

/** What a callback has been called with. */
typedef struct bare_called {
    bare_problem problem;
    atomic_bool is_called;
} bare_called;

/** A client, what it has compiled, and the values of a run; NULL: not there. */
typedef struct bare_job {
    PJRT_Client *client;
    PJRT_Device *device[BARE_DEVICES];
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *source[2], *result, *copy;
    PJRT_Event *done;
    float got[BARE_COUNT];
} bare_job;

/** Arguments V of the function NAME. */
#define BARE_MAKE(name, v) PJRT_##name##_Args v = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE}
/** Calls the function NAME with the arguments V; false: it fails, and P, a bare_problem *, is set. */
#define BARE_CALL(name, v) bare_good(bare_api->PJRT_##name(&(v)), p)

/** Loads the plugin that MUSTER_SHIM names, for all functions below; false: it cannot be loaded. */
bool bare_load(void);
enum { BARE_SKIPPED = 77 }; /* what a test that is skipped returns to CTest */
/** Whether there is no plugin before which shim could stand; then it prints so. */
bool bare_is_skipped(void);
/** Seconds of the monotonic clock. */
double bare_now(void);
/** Sleeps for a millisecond. */
void bare_rest(void);
/** Sets faults (shim.h); fails the test if the notation is wrong. */
void bare_faults(const char *wanted);
/** There was no error. */
void bare_expect_good(const bare_problem *p);
/** The first error has that code, and MESSAGE in its message. */
void bare_expect_problem(const bare_problem *p, PJRT_Error_Code code, const char *message);
/** All objects of the plugin have been destroyed. */
void bare_expect_nothing_alive(void);

/** Destroys ERROR, and keeps it in P if it is the first. True: ERROR is NULL. If its code cannot be had, the error that
 *  says so is kept instead. */
bool bare_good(PJRT_Error *error, bare_problem *p);
/** NULL is allowed, as in the next. */
void bare_destroy_event(PJRT_Event *event, bare_problem *p);
void bare_destroy_buffer(PJRT_Buffer *buffer, bare_problem *p);
bool bare_await(PJRT_Event *event, bare_problem *p);
bool bare_is_ready(PJRT_Event *event);
/** X will be set when the event is ready; it must be valid until then. */
bool bare_ask_for_callback(PJRT_Event *event, bare_called *x, bare_problem *p);
void bare_wait_for_callback(bare_called *x);

/** Steps of a job. They return false when a call fails, and set what they make only if none does. */
bool bare_make_client(bare_job *j, bare_problem *p);
bool bare_compile(bare_job *j, bare_problem *p);
void bare_destroy_loaded(bare_job *j, bare_problem *p);
bool bare_put_and_wait(const bare_job *j, int device, const float *data, PJRT_Buffer **out, bare_problem *p);
/** Starts the program on the first device. */
bool bare_execute(bare_job *j, bare_problem *p);
bool bare_ready_event(PJRT_Buffer *buffer, PJRT_Event **event, bare_problem *p);
bool bare_copy_to(const bare_job *j, int device, PJRT_Buffer *buffer, PJRT_Buffer **out, bare_problem *p);
bool bare_start_to_host(PJRT_Buffer *buffer, float *to, PJRT_Event **event, bare_problem *p);
bool bare_to_host(PJRT_Buffer *buffer, float *to, bare_problem *p);

/** Makes a client, asks for all that a module reads, compiles, serializes the executable and loads it again. */
bool bare_begin_job(bare_job *j, bare_problem *p);
/** Copies the sources to the device, runs the program, and fetches the result from the other device. */
bool bare_run_job(bare_job *j, bare_problem *p);
/** Destroys the values of a run. */
void bare_end_run(bare_job *j, bare_problem *p);
/** Destroys all. */
void bare_end_job(bare_job *j, bare_problem *p);
/** The whole program, which ends whatever fails. True: nothing did, and what it computes is right. */
bool bare_run_all(bare_problem *p);

#endif
