/** Short ways to graphs, sessions and numbers. All fail the test where something goes wrong. */
#ifndef MUSTER_TEST_SUPPORT_ENGINE_H
#define MUSTER_TEST_SUPPORT_ENGINE_H

#include "muster/muster.h"

mst_graph *engine_graph(void);
/** DEVICES as in mst_session_options; NULL: "cpu:1/1". Variables have their first values. */
mst_session *engine_session(mst_graph *graph, const char *devices);
/** Builds a step of STRATEGY over all devices of SESSION (the first for MST_STRATEGY_ONE), and gives the variables
 *  their first values. */
void engine_build_step(mst_graph *graph, mst_session *session, mst_strategy *strategy, const mst_optimizer *optimizer,
                       mst_replica_function replica, void *context, mst_step_values *out);
/** Destroys both. */
void engine_end(mst_graph *graph, mst_session *session);

/** VALUE NULL: zeros. */
mst_tensor *engine_tensor(mst_dtype dtype, mst_shape shape, const double *value);
/** Numbers in [low, high), the same for the same seed. */
mst_tensor *engine_random(mst_dtype dtype, mst_shape shape, double low, double high, unsigned seed);
/** A placeholder of f32. */
mst_value engine_input(mst_graph *graph, const char *name, mst_shape shape);

/** The value of a fetch; owned by the caller. */
mst_tensor *engine_fetch(mst_session *session, const mst_feed *feeds, int num_feeds, mst_value fetch);
/** What BUILD makes of a placeholder of the dtype and shape of FED, its first dimension unknown, must be exactly WANTED
 *  when that is fed. */
void engine_expect_built(mst_value (*build)(mst_value src), mst_tensor *fed, mst_shape wanted_shape,
                         const double *wanted);
/** The value of a fetch of one element, without feeds. */
double engine_number(mst_session *session, mst_value fetch);
/** Runs without feeds and outputs. */
void engine_run(mst_session *session, mst_value fetch);

/** TEXT with the type of device that the tests run on in place of "cpu" or "CPU" (support/other_device.c); one of the
 *  last four is valid. */
const char *engine_here(const char *text);
/** Whether that type of device compiles. Then there is a CPU beside the devices that a test asks for. */
bool engine_compiles(void);
/** A scope of DEVICE ("/cpu:1"). If it compiles: of the CPU beside it, for ops of tests that have kernels and no text.
 *  mst_device_pop closes it. */
int engine_kernels_push(mst_graph *graph, const char *device);
#define engine_with_kernels(g, device) MST_SCOPE_BLOCK_(engine_kernels_push((g), (device)), mst_device_pop(g))
/** The full name of the device I on which such ops run. */
const char *engine_kernels_device(mst_session *session, int i);
/** Whether weights that devices of SPEC compute can have other bits than those that the tests' devices compute, because
 *  some of SPEC are of another type and one of the types compiles. */
bool engine_has_other_bits(const char *spec);
/** The number of the next run, which random ops see: runs that make no step are counted from 0. */
void engine_set_run(mst_session *session, int64_t number);

/** Element I as mst_tensor_set and mst_tensor_get have it. A string has the number as text; in some, zero bytes and
 *  more follow it. */
void engine_set(mst_tensor *tensor, int64_t i, double value);
double engine_get(const mst_tensor *tensor, int64_t i);
/** Same dtype, shape and bytes; of strings, the bytes that they refer to. */
bool engine_same_bits(const mst_tensor *a, const mst_tensor *b);
/** Largest |a - b| / max(1, |b|) over all elements; infinite where shapes differ. */
double engine_distance(const mst_tensor *a, const mst_tensor *b);
/** oneDNN wants the right factor of a product, and the weights of a convolution, in blocks: so it does with AVX-512.
 *  With less it has no such code for some shapes, as for 1x1 convolutions with zeros around the source. */
bool engine_onednn_wants_blocks(void);

/** An op of one source that copies it and counts its runs: pure, so that plans may fold and merge it, and stateful. */
extern const mst_op engine_count_op, engine_count_stateful_op;
mst_value engine_count(mst_value src);
mst_value engine_count_stateful(mst_value src);
/** Runs of both since the last call. */
int engine_counted(void);

#endif
