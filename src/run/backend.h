/** Backends: they turn a device's part of a plan into calls that run.
 *
 *  compile turns the part into an executable, once for a plan. bind gives the executable addresses, once for each step
 *  that may be in flight. execute runs some of its calls, in each step. A plan and its executables never change.
 *  Compiling that may take long goes on in an errand (run/errand.h). The first execute waits for it, at most until the
 *  deadline of the frame, and returns its errors. destroy does not wait.
 *
 *  Calls of a device that compiles may be late: execute only starts them, in their order. A later call on that device,
 *  or a copy from it, waits for the values that it reads. settle waits for all late calls. In a plan that donates, some
 *  calls behind the gate are late too. */
#ifndef MUSTER_RUN_BACKEND_H
#define MUSTER_RUN_BACKEND_H

#include "base/team.h"
#include "plan/plan.h"

struct mst_errand;
struct mst_errand_type;
struct mst_executable_key;
struct mst_executable_order;
struct mst_executable_source;
struct mst_frame;
struct mst_run_notes;

/** An exchange of a plan with its memory. There are two kinds; the member for the other kind is NULL. */
typedef struct mst_bound_exchange {
    mst_exchange *sums;
    mst_row_exchange *rows;
} mst_bound_exchange;

/** The memory into which this task writes leaf LEAF of value VALUE. */
void *mst_bound_exchange_leaf(const mst_bound_exchange *exchange, int32_t leaf, int32_t value);

/** Where a plan's values are for one of the steps that may be in flight. */
typedef struct mst_binding {
    const mst_plan *plan;
    char *const *arena;                 /**< by device */
    char *const *constants;             /**< by device; NULL if its domain is the host's */
    char *const *staging;               /**< by device: host memory for values that a function feeds; NULL: the device
                                             needs none */
    void *const *state;                 /**< by state of the plan */
    const mst_bound_exchange *exchange; /**< by exchange of the plan */
    const mst_step *step;
    mst_team *const *team; /**< by device; a NULL entry: the device has one thread */
    /** By node: arrays of the sources and outputs of a node that a group runs; NULL for other nodes. All devices of the
     *  group share them. */
    const mst_array *const *group_arrays;
    /** Describes VALUE in *ARRAY. The address is set in this call. For a fed tensor it is set before each step instead;
     *  with SHAPE_ONLY it is never set. */
    mst_status (*fill)(const struct mst_binding *binding, int32_t value, bool shape_only, mst_array *array);
    void *context; /**< of fill */
} mst_binding;

/** VALUE as an array with its address. For a fed tensor the address is missing. */
mst_array mst_binding_array(const mst_binding *binding, int32_t value);

/** No function may be NULL, except settle, ready, compile_text, inside_bytes and note_programs. */
typedef struct mst_backend {
    uint32_t size; /**< size of this struct when the backend was written */
    /** Makes the executable for DEVICE's calls of PLAN. PLAN outlives it. */
    mst_status (*compile)(const mst_plan *plan, int device, void **executable);
    /** Frees an executable that is no longer bound. */
    void (*destroy)(void *executable);
    /** Gives the executable addresses: makes an instance of it. BINDING outlives the instance. */
    mst_status (*bind)(void *executable, const mst_binding *binding, void **instance);
    /** Frees an instance. */
    void (*unbind)(void *instance);
    /** Runs calls FIRST to END - 1 of the device's program on the device's thread, and stops at the first that
     *  fails. */
    mst_status (*execute)(void *instance, int32_t first, int32_t end, struct mst_frame *frame);
    /** Waits until all calls that execute has started for FRAME have ended, at most until DEADLINE. If a call failed,
     *  settle returns the status of the first such call each time, and *NODE is the node of the plan that failed.
     *  MST_DEADLINE if some calls have not ended; *NODE is then the node of the first of these. Several threads may
     *  call settle at once, also while the device's thread is in execute. NULL: calls have ended when execute
     *  returns. */
    mst_status (*settle)(void *instance, struct mst_frame *frame, int64_t deadline, int32_t *node);
    /** Waits, at most until the deadline of FRAME, until all calls of the device can be started because their programs
     *  have been compiled. Called before the gate, on any thread, if the plan donates: behind the gate nothing should
     *  fail. Returns the error of the first call that cannot be started; *NODE is the node of this call. NULL: there is
     *  nothing to wait for. */
    mst_status (*ready)(void *instance, struct mst_frame *frame, int32_t *node);
    /** Compiles a text for another task of the cluster, which has asked for it (run/executables.h). *DATA, SIZE bytes,
     *  is freed with free(). An error if SOURCE is for other options, another plugin or another kind of device than
     *  here. Called on a thread of its own, and may take long. NULL: each task compiles its own texts. */
    mst_status (*compile_text)(const struct mst_executable_source *source, void **data, size_t *size);
    /** Sets *BYTES to the bytes of the device's memory that the programs of EXECUTABLE take beyond their arguments and
     *  results. These are the temporaries of the largest program, because programs run one after another, and the code
     *  and constants of all programs. A size that the compiler does not report counts as 0. Waits until the programs
     *  have been compiled, at most until DEADLINE. Called before the plan is bound, if the device has a limit of
     *  memory. NULL: the size is not known. */
    mst_status (*inside_bytes)(void *executable, int64_t deadline, int64_t *bytes);
    /** Adds to the `notes` of FRAME, which has succeeded, when the programs ran that execute has started for it. NULL:
     *  programs have ended when execute returns, or their times are not known. */
    void (*note_programs)(void *instance, struct mst_frame *frame);
} mst_backend;

/** What the library does for backends of modules (mst_registrar). */
typedef struct mst_backend_services {
    int64_t (*clock_now)(void); /**< as mst_clock_now (base/clock.h) */
    /** As mst_note_call (run/trace.h): for each call of a frame with `notes`. */
    void (*note_call)(struct mst_run_notes *notes, int device, int32_t node, int64_t begin);
    /** As mst_note_compiling and mst_note_program: for the backend's own waits for a compiler, and in note_programs. */
    void (*note_compiling)(struct mst_run_notes *notes, int device, int32_t node, int64_t begin);
    void (*note_program)(struct mst_run_notes *notes, int device, int32_t node, int64_t begin, int64_t end);
    /** As mst_compiled_fail (run/compiled_fault.h). */
    mst_status (*compiled_fail)(const struct mst_frame *frame, int32_t node, int32_t word, int32_t *failed);
    /** As mst_errand_start, mst_errand_wait and mst_errand_leave (run/errand.h): for work that may never end. */
    mst_status (*errand_start)(const struct mst_errand_type *type, void *context, struct mst_errand **out);
    mst_status (*errand_wait)(struct mst_errand *errand, int64_t deadline, const char *what);
    void (*errand_leave)(struct mst_errand *errand);
    /** As mst_executable_key_make (run/executable_cache.h). */
    void (*executable_key)(const struct mst_executable_source *source, struct mst_executable_key *out);
    /** As mst_executable_make (run/executables.h): the executable is found on disk, got from another task, or compiled
     *  and kept. */
    mst_status (*executable_make)(const struct mst_executable_order *order, void **data, size_t *size);
} mst_backend_services;

extern const mst_backend_services mst_backend_services_here;
extern const mst_backend mst_backend_cpu;
/** Runs calls FIRST to END - 1 of an instance of the CPU's backend without a frame. These are the calls of a body. */
mst_status mst_cpu_run(void *instance, int32_t first, int32_t end);

#endif
