/** Types of layers.
 *
 *  A type is one `const mst_layer_type` in one file of this folder, with its options and their fields, its weights and
 *  what it computes. The build makes the table of all types, and muster/layers.h from what each file declares between
 *  `#ifdef MST_LAYER_HEADER` and `#endif`. To add one, begin with a copy of dropout.c, or of dense.c if it has
 *  weights.
 */
#ifndef MUSTER_LAYER_TYPE_H
#define MUSTER_LAYER_TYPE_H

#include "muster/layer.h"
#include "muster/op.h"

typedef struct mst_layer_type mst_layer_type;

enum { MST_MAX_LAYER_WEIGHTS = 8 };

/** One call of a layer while it is built. */
typedef struct mst_layer_call {
    const mst_layer_type *type;
    const char *name;    /**< of the layer */
    bool scoped;         /**< has a scope of its name: false if a layer without weights is built on a value, unnamed */
    const void *options; /**< checked, with their defaults */
    mst_graph *graph;
    const mst_value *src;
    int num_src;
    /** Of each source, bool [n, steps]: the steps that count; MST_NONE: all do. NULL: no source has one. */
    const mst_value *mask;
    bool training;
    bool frozen; /**< its weights are not trained, and what it has learnt from batches does not change */
    mst_value weight[MST_MAX_LAYER_WEIGHTS]; /**< in the order in which `weights` declares them */
    int num_weights;
} mst_layer_call;

/** The data that mst_adapt gives a layer, batch after batch: the caller owns *ROWS, [n, ...]; NULL at the end. */
typedef mst_status (*mst_layer_rows)(void *context, mst_tensor **rows);
enum { MST_MAX_LEARNT = 2 };

struct mst_layer_type {
    const char *name;       /**< "dense": of its macro, and default name of a layer: dense, dense_1, ... */
    const char *class_name; /**< "Dense": as Keras names it, in summaries */
    size_t options_size;
    const mst_field *fields; /**< of its options; has a string "name" */
    int min_src, max_src;    /**< number of outputs that it takes */
    /** The class of a layer with these options, if that is not class_name; may be NULL. */
    const char *(*class_of)(const void *options);
    /** The default name of a layer with these options, if that is not `name`; may be NULL. */
    const char *(*default_name)(const void *options);
    /** Refuses options that the fields cannot refuse, naming NAME; may be NULL. */
    mst_status (*check)(const void *options, const char *name);
    /** Declares the weights, with mst_layer_weight, in a variable scope of the layer's name; NULL: there are none. */
    mst_status (*weights)(mst_layer_call *call);
    /** The output of the layer; its weights have been made. */
    mst_value (*build)(const mst_layer_call *call);
    /** The mask of the layer's output, as Keras' compute_mask; NULL: it has none. Most layers use one of those
     *  below. */
    mst_value (*mask)(const mst_layer_call *call);
    /** The layer inside of one with these OPTIONS; NULL: layers of this type have none. */
    mst_inner_layer *(*inner)(void *options);
    /** Learns members of OPTIONS, which are checked, from all rows that NEXT gives; NULL: it learns nothing so. Tensors
     *  that it puts there are handed over in LEARNT, also after a failure; the rest of LEARNT stays NULL. */
    mst_status (*adapt)(void *options, const char *name, mst_layer_rows next, void *context,
                        mst_tensor *learnt[MST_MAX_LEARNT]);
};

/** All types, ended by NULL; made by the build. */
extern const mst_layer_type *const mst_layer_type_table[];

/** The type of this name, or NULL. */
const mst_layer_type *mst_layer_find(const char *name);
/** The type of INNER, if it can be inside of a layer of TYPE, named NAME: it takes one output, learns nothing before
 *  training and has no layer inside of its own. Else NULL after an error. */
const mst_layer_type *mst_layer_inner_type(const mst_inner_layer *inner, const mst_layer_type *type, const char *name);
/** The member "name" of the options of a layer, NULL if it was not given. */
const char *mst_layer_name(const mst_layer_type *type, const void *options);
/** Sets the defaults of OPTIONS, and of those of a layer inside, and checks them; NAME is for messages. */
MST_CHECKED mst_status mst_layer_check(const mst_layer_type *type, void *options, const char *name);
/** Builds a call; REUSE says whether the scope of its name has the weights already. */
mst_value mst_layer_build(mst_layer_call *call, mst_reuse reuse);
/** An error, unless the source has NDIM dimensions, that says that the layer needs FORM, "[n, steps, channels]". */
MST_CHECKED mst_status mst_layer_want_ndim(const mst_layer_call *call, int ndim, const char *form);
/** The last dimension of the source, known and at least 1, if the source has LEAST to MOST dimensions; else an error
 *  that says that the layer needs FORM, "[n, steps, channels]". */
MST_CHECKED mst_status mst_layer_channels(const mst_layer_call *call, const char *form, int least, int most,
                                          int64_t *channels);
/** The mask of the first source, MST_NONE: it has none. */
mst_value mst_layer_mask(const mst_layer_call *call);
/** The mask of a layer that takes the steps of its source one by one: that of the source. */
mst_value mst_layer_mask_pass(const mst_layer_call *call);
/** The mask of a layer whose output a mask would change, and that does not support masks: an error if there is one. */
mst_value mst_layer_mask_refuse(const mst_layer_call *call);
/** Declares the next weight of the layer. */
void mst_layer_weight_with(mst_layer_call *call, mst_get_variable_options options);
#define mst_layer_weight(call, ...) mst_layer_weight_with((call), (mst_get_variable_options){__VA_ARGS__})
/** The value that VARIABLE takes when a step trains, as far as is known: that of an earlier call of a layer that is
 *  called several times, else VARIABLE itself. */
mst_value mst_layer_updated(const mst_layer_call *call, mst_value variable);
/** When a step trains, VARIABLE, a weight that is not trained, takes VALUE. */
void mst_layer_update(const mst_layer_call *call, mst_value variable, mst_value value);
/** The calling thread's error as an error value of the call's graph. */
mst_value mst_layer_fail(const mst_layer_call *call);

#endif
