/** Types of layers.
 *
 *  A type is one `const mst_layer_type` in one file of this folder, with its options and their fields, its weights and
 *  its computation. The build makes the table of all types. It also makes muster/layers.h from the declarations of each
 *  file between `#ifdef MST_LAYER_HEADER` and `#endif`. To add a type, begin with a copy of dropout.c, or of dense.c if
 *  the layer has weights.
 */
#ifndef MUSTER_LAYER_TYPE_H
#define MUSTER_LAYER_TYPE_H

#include "muster/layer.h"
#include "muster/op.h"

typedef struct mst_layer_type mst_layer_type;

enum { MST_MAX_LAYER_WEIGHTS = 8 };

/** For models that write a text token by token (train/generation.c): each run computes some steps of one sequence, and
 *  earlier runs have computed the steps before them. The sources of a call are [1, steps, ...]. */
typedef struct mst_layer_steps {
    int64_t capacity; /**< the largest number of steps of a sequence */
    mst_value first;  /**< i32, a scalar: the number of this run's first step, counted from 0 */
    mst_value place;  /**< i32, [steps]: the number of each step of this run */
    /** Returns a variable [1, heads, capacity, columns] for values of each step, such as the keys of attention; zeros
     *  at first. All builds of a model make these calls in the same order, and so get the same variables. */
    mst_value (*cache)(void *context, mst_shape shape, mst_dtype dtype);
    /** Makes each run write VALUE, [1, heads, steps, columns], to the places of its steps in CACHE, after all reads of
     *  CACHE in this run. */
    void (*keep)(void *context, mst_value cache, mst_value value);
    void *context;
} mst_layer_steps;

/** One call of a layer while it is built. */
typedef struct mst_layer_call {
    const mst_layer_type *type;
    const char *name;    /**< of the layer */
    bool scoped;         /**< has a scope of its name; false for an unnamed layer without weights built on a value */
    const void *options; /**< checked, with their defaults */
    mst_graph *graph;
    const mst_value *src;
    int num_src;
    /** For each source its mask, bool [n, steps]: true for the steps that count; MST_NONE: all count. NULL: no source
     *  has a mask. */
    const mst_value *mask;
    const mst_layer_steps *steps; /**< NULL: the sources have all steps. Else the layer has `by_step` */
    bool training;
    bool frozen;                             /**< its weights are not trained, and moving statistics do not change */
    mst_value weight[MST_MAX_LAYER_WEIGHTS]; /**< in the order in which `weights` declares them */
    int num_weights;
} mst_layer_call;

/** Sets *ROWS to the next batch of the data of mst_adapt, [n, ...], which the layer releases; NULL at the end. */
typedef mst_status (*mst_layer_rows)(void *context, mst_tensor **rows);
enum { MST_MAX_LEARNT = 2 };

struct mst_layer_type {
    const char *name;       /**< "dense": the name of its macro, and of layers by default: dense, dense_1, ... */
    const char *class_name; /**< "Dense": the name in Keras, for summaries */
    size_t options_size;
    const mst_field *fields; /**< of its options; they include a string "name" */
    int min_src, max_src;    /**< the smallest and largest number of sources */
    /** The class of a layer with these options, if that is not class_name; may be NULL. */
    const char *(*class_of)(const void *options);
    /** The default name of a layer with these options, if that is not `name`; may be NULL. */
    const char *(*default_name)(const void *options);
    /** Refuses options that the ranges of the fields allow but the layer does not. NAME is for the message. May be
     *  NULL. */
    mst_status (*check)(const void *options, const char *name);
    /** Declares the weights, with mst_layer_weight, in a variable scope of the layer's name; NULL: there are none. */
    mst_status (*weights)(mst_layer_call *call);
    /** The output of the layer; its weights have been made. */
    mst_value (*build)(const mst_layer_call *call);
    /** The mask of the layer's output, as Keras' compute_mask; NULL: it has none. Most layers use one of the
     *  mst_layer_mask functions below. */
    mst_value (*mask)(const mst_layer_call *call);
    /** True if step i of the output, [n, steps, ...], depends only on step i of the sources, or if the layer uses
     *  mst_layer_call.steps. */
    bool by_step;
    /** The inner layer of a layer with these OPTIONS; NULL: layers of this type have none. */
    mst_inner_layer *(*inner)(void *options);
    /** Learns members of OPTIONS, which have been checked, from all rows that NEXT gives. The learnt tensors are also
     *  put into LEARNT, and the caller releases them, even after a failure. Unused elements of LEARNT stay NULL. If
     *  `adapt` is NULL, the layer does not learn from data before training. */
    mst_status (*adapt)(void *options, const char *name, mst_layer_rows next, void *context,
                        mst_tensor *learnt[MST_MAX_LEARNT]);
};

/** All types, ended by NULL; made by the build. */
extern const mst_layer_type *const mst_layer_type_table[];

/** The type of this name, or NULL. */
const mst_layer_type *mst_layer_find(const char *name);
/** The type of INNER, if it can be the inner layer of a layer NAME of TYPE. It must take one source, learn nothing
 *  before training, and have no inner layer. Else NULL after an error. */
const mst_layer_type *mst_layer_inner_type(const mst_inner_layer *inner, const mst_layer_type *type, const char *name);
/** The member "name" of the options of a layer; NULL: not given. */
const char *mst_layer_name(const mst_layer_type *type, const void *options);
/** Sets the defaults in OPTIONS, and in those of an inner layer, and checks them. NAME is for messages. */
MST_CHECKED mst_status mst_layer_check(const mst_layer_type *type, void *options, const char *name);
/** Builds a call. REUSE tells whether the scope of its name has the weights already. */
mst_value mst_layer_build(mst_layer_call *call, mst_reuse reuse);
/** An error unless the source has NDIM dimensions. The message says that the layer needs FORM, such as "[n, steps,
 *  channels]". */
MST_CHECKED mst_status mst_layer_want_ndim(const mst_layer_call *call, int ndim, const char *form);
/** Sets *CHANNELS to the last dimension of the source. It must be known and at least 1, and the source must have LEAST
 *  to MOST dimensions. Otherwise an error says that the layer needs FORM, such as "[n, steps, channels]". */
MST_CHECKED mst_status mst_layer_channels(const mst_layer_call *call, const char *form, int least, int most,
                                          int64_t *channels);
/** The mask of the first source; MST_NONE: it has none. */
mst_value mst_layer_mask(const mst_layer_call *call);
/** For a layer that processes the steps of its source one by one: passes on the mask of the source. */
mst_value mst_layer_mask_pass(const mst_layer_call *call);
/** For a layer whose output depends on a mask but that does not support masks: an error if the source has one. */
mst_value mst_layer_mask_refuse(const mst_layer_call *call);
/** Declares the next weight of the layer. */
void mst_layer_weight_with(mst_layer_call *call, mst_get_variable_options options);
#define mst_layer_weight(call, ...) mst_layer_weight_with((call), (mst_get_variable_options){__VA_ARGS__})
/** The value of VARIABLE so far in a training step. If the layer is called several times, it is the value after its
 *  earlier calls; else VARIABLE itself. */
mst_value mst_layer_updated(const mst_layer_call *call, mst_value variable);
/** Sets VARIABLE, a weight that is not trained by the optimizer, to VALUE in each training step. */
void mst_layer_update(const mst_layer_call *call, mst_value variable, mst_value value);
/** The last error of the calling thread, as an error value of the call's graph. */
mst_value mst_layer_fail(const mst_layer_call *call);

#endif
