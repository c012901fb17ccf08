/** Initializers. Each is one file of this folder. From these files the build makes the enum mst_initializer_kind, the
 *  macros (muster/initializers.h) and the tables below. */
#ifndef MUSTER_LAYER_INITIALIZER_INITIALIZER_H
#define MUSTER_LAYER_INITIALIZER_INITIALIZER_H

#include "graph/field.h"
#include "muster/initializer.h"
#include "muster/ops.h"

typedef struct mst_initializer_form {
    bool only_floats; /**< makes f32 and f64 only */
    bool makes_bf16;  /**< makes bf16 directly; else bf16 is made in f32 and cast */
    /** Further checks than the ranges of numbers; may be NULL. */
    mst_status (*check)(const mst_initializer *initializer, mst_dtype dtype, mst_shape shape);
    mst_value (*value)(mst_graph *graph, const mst_initializer *initializer, mst_dtype dtype, mst_shape shape);
} mst_initializer_form;

/** All initializers, indexed by mst_initializer_kind. */
extern const mst_initializer_form *const mst_initializer_table[];
/** Their names, ended by NULL. */
extern const char *const mst_initializer_names[];
/** The members of mst_initializer as options of a layer. */
extern const mst_field mst_initializer_fields[];

/** INITIALIZER, or OTHERWISE if it was not given. An initializer that was not given is glorot_uniform. */
mst_initializer mst_initializer_or(mst_initializer initializer, mst_initializer otherwise);

/** A random value from DISTRIBUTION with mean 0 and variance SCALE / n. FAN says which number n is: the inputs of a
 *  unit, its outputs, or their average. Uses the seed of INITIALIZER. */
mst_value mst_initializer_scaled(mst_graph *graph, const mst_initializer *initializer, mst_dtype dtype, mst_shape shape,
                                 double scale, mst_fan fan, mst_distribution distribution);

/** A value whose elements are all NUMBER. */
mst_value mst_initializer_filled(mst_graph *graph, mst_dtype dtype, mst_shape shape, double number);

#endif
