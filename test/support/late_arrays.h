/** The memory and the threads of devices that compile, for modules that only tests load: arrays that may be on their
 *  way.
 *
 *  An address is only a name: nobody may touch the memory there. An array is put at an address, and is found there as a
 *  whole. It never changes; who writes puts another one. Each device has a thread that does its jobs one after the
 *  other, late: so whoever reads an array must wait for it. */
#ifndef MUSTER_TEST_SUPPORT_LATE_ARRAYS_H
#define MUSTER_TEST_SUPPORT_LATE_ARRAYS_H

#include "module/module.h"
#include "support/hlo_interpreter.h"

enum { LATE_MESSAGE = 512 };

/** Why a job has failed; status MST_OK: it has not. */
typedef struct late_error {
    mst_status status;
    int32_t node, word; /* of a program: its node, and its word of faults or 0 */
    char message[LATE_MESSAGE];
} late_error;

/** An array that a job will make, or has made. */
typedef struct late_array {
    int references;
    int names;        /* how many of them are addresses at which it is */
    bool is_there;    /* it has been made, or could not be made */
    late_error error; /* why it could not be made */
    hlo_array array;  /* its data is valid once it is there */
} late_array;

/** Jobs that belong together: those that have not ended, in their order, and why the first has failed that did. All
 *  zeros: none. */
typedef struct late_group {
    struct late_job *first;
    late_error error;
} late_group;

/** A job of a device. RUN fills the results from the arguments, all of which are there, or sets ERROR. */
typedef struct late_job {
    void (*run)(struct late_job *job, late_error *error);
    void (*free)(struct late_job *job);
    late_group *group; /* NULL: none */
    int32_t node;      /* of a program; -1: a copy */
    int num_args, num_results;
    late_array **arg, **result; /* each counts as a reference */
    bool *takes;                /* by argument: it is donated to the job, which begins when nobody else reads it, and
                                   is gone at its end; NULL: none is */
    struct late_job *next, *next_of_group;
} late_job;

/** Comes first. NAME is that of the type of domain. */
void late_arrays_begin(const char *name, const mst_registrar *registrar);
/** The domain of device INDEX, with which mst_device_type has its `domain` filled. */
mst_status late_arrays_domain(int index, mst_domain **out);

/** A new array of the type and shape of TYPE, which is not there yet; NULL: no memory. The caller has a reference. */
late_array *late_array_make(const hlo_array *type);
/** NULL is allowed. */
void late_array_release(late_array *array);
/** The array at the address DATA, with a reference for the caller; NULL: there is none. */
late_array *late_array_at(mst_domain *domain, const void *data);
/** Takes the array away from the address DATA for a job that it is donated to (`takes`); NULL: there is none, or it is
 *  at another address too. The caller gets the reference. */
late_array *late_array_take(mst_domain *domain, const void *data);
/** Puts ARRAY at the address DATA. Arrays that lie in its BYTES are there no more. */
MST_CHECKED mst_status late_array_put(mst_domain *domain, void *data, size_t bytes, late_array *array);

/** Gives JOB to the device of DOMAIN, which frees it when it has ended. */
MST_CHECKED mst_status late_start(mst_domain *domain, late_job *job);
/** Waits until all jobs of GROUP have ended. OUT is why the first has failed that did. MST_DEADLINE if some have not
 *  ended then; OUT has the node of the first of these. */
MST_CHECKED mst_status late_wait(late_group *group, int64_t deadline, late_error *out);
/** Returns when there is no file PATH; NULL: it never returns. For a job that does not end. */
void late_while_file(const char *path);

/** The type of StableHLO for a dtype. False if there is none. */
bool late_type(mst_dtype dtype, hlo_type *out);
/** The type and shape of a value. False if StableHLO has no such type. */
bool late_type_of(const mst_spec *spec, hlo_array *out);

#endif
