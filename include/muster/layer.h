/** Layers: what models are made of.
 *
 *  The first argument of every layer says what it is applied to.
 *
 *      mst_dense(model, 10);          a model: the layer is added to it, after the one added last
 *      mst_output y = mst_dense(x, 10);   an output of a layer: the layer is added to x's model, after x
 *      mst_value y = mst_dense(x, 10);    a value: nothing is added to a model, the layer is built in x's graph, for
 *                                         training, with its variables in a variable scope of its name
 *
 *  The layers are in muster/layers.h, which the build makes from the files of src/layer/.
 */
#ifndef MUSTER_LAYER_H
#define MUSTER_LAYER_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/activations.h"
#include "muster/constraint.h"
#include "muster/initializer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_get_variable_options {
    int zero_;
    mst_graph *graph;
    const char *name; /**< name in the current variable scope */
    mst_shape shape;
    mst_dtype dtype;             /**< default f32 */
    mst_initializer initializer; /**< default glorot_uniform */
    bool not_trainable;
    /** Penalty added to the loss: l1 * sum |w| + l2 / 2 * sum w^2, as in tf.contrib. Keras has no factor 1 / 2: its
     *  L2(x) is .l2 = 2 * x here. */
    float l1, l2;
    mst_constraint constraint; /**< applied to its values after each training step */
} mst_get_variable_options;
/** Makes a variable; or, with reuse, returns the existing one of this name, which must have this shape and dtype. */
MST_API mst_value mst_get_variable_with(mst_get_variable_options options);
#define mst_get_variable(...) \
    mst_get_variable_with(MST_NAMED_3(mst_get_variable_options, graph, name, shape, __VA_ARGS__))

/** "relu", ... */
MST_API const char *mst_activation_name(mst_activation activation);

/* ---- what a layer is applied to ------------------------------------------------------------------- */

typedef struct mst_model mst_model;

/** An output of a layer of a model. It stands for the values that come out of the layer once the model is built in a
 *  graph. Small, copied freely, valid as long as its model. All zero: no output, after an error that is kept on the
 *  model. */
typedef struct mst_output {
    mst_model *model;
    int64_t node; /**< index of the layer's call in the model, from 0 */
} mst_output;

enum { MST_MAX_OUTPUTS = 32 };
/** A list of outputs: MST_OUTPUTS(a, b). */
typedef struct mst_outputs {
    int count;
    mst_output output[MST_MAX_OUTPUTS];
} mst_outputs;

/** The layer inside another layer, such as the one that is applied to each step of a sequence; made by MST_INNER. */
typedef struct mst_inner_layer {
    const char *type;    /**< "conv2d" */
    const void *options; /**< the struct of its options; copied when the outer layer is added to a model */
} mst_inner_layer;

/** The first argument of a layer, which the macros convert to this type: a model, outputs or a value. */
typedef struct mst_layer_source {
    mst_model *model; /**< NULL: none, or an error */
    mst_outputs outputs;
    mst_value value;
} mst_layer_source;
MST_API mst_layer_source mst_source_model(mst_model *model);
MST_API mst_layer_source mst_source_output(mst_output output);
MST_API mst_layer_source mst_source_outputs(mst_outputs outputs);
MST_API mst_layer_source mst_source_value(mst_value value);

/** Adds a layer of type TYPE ("dense") to the source's model. OPTIONS is the options struct of that type. After an
 *  error the result is all zero: the model keeps the error, and mst_compile returns it. */
MST_API mst_output mst_layer_append(const char *type, mst_layer_source source, const void *options);
/** Builds a layer of type TYPE on the source's value. */
MST_API mst_value mst_layer_value(const char *type, mst_layer_source source, const void *options);
/** Applies the layer that gave OUTPUT once more, with the same weights, to SOURCE. */
MST_API mst_output mst_layer_again(mst_output output, mst_layer_source source);

#ifdef __cplusplus
extern "C++" {
inline mst_layer_source mst_source_(mst_model *model) {
    return mst_source_model(model);
}
inline mst_layer_source mst_source_(mst_output output) {
    return mst_source_output(output);
}
inline mst_layer_source mst_source_(const mst_outputs &outputs) {
    return mst_source_outputs(outputs);
}
inline mst_output mst_layer_(const char *type, mst_model *model, const void *options) {
    return mst_layer_append(type, mst_source_model(model), options);
}
inline mst_output mst_layer_(const char *type, mst_output output, const void *options) {
    return mst_layer_append(type, mst_source_output(output), options);
}
inline mst_output mst_layer_(const char *type, const mst_outputs &outputs, const void *options) {
    return mst_layer_append(type, mst_source_outputs(outputs), options);
}
inline mst_value mst_layer_(const char *type, mst_value value, const void *options) {
    return mst_layer_value(type, mst_source_value(value), options);
}
template <class... T>
inline mst_outputs mst_outputs_of_(T... output) {
    static_assert(sizeof...(output) <= MST_MAX_OUTPUTS, "more than MST_MAX_OUTPUTS outputs");
    return mst_outputs{static_cast<int>(sizeof...(output)), {output...}};
}
}
#define MST_OUTPUTS(...) mst_outputs_of_(__VA_ARGS__)
#define MST_INNER_(type, ...) (mst_inner_layer{#type, &MST_NAMED(mst_layer_##type##_options, __VA_ARGS__)})
#define MST_SOURCE(source) mst_source_(source)
#define MST_LAYER(type, source, options) mst_layer_(#type, source, &options)
#else
#define MST_INNER_(type, ...) ((mst_inner_layer){#type, &MST_NAMED(mst_layer_##type##_options, __VA_ARGS__)})
#define MST_OUTPUTS(...) ((mst_outputs){(int)(sizeof((mst_output[]){__VA_ARGS__}) / sizeof(mst_output)), {__VA_ARGS__}})
#define MST_SOURCE(source)                    \
    _Generic((source), mst_output             \
             : mst_source_output, mst_outputs \
             : mst_source_outputs, mst_value  \
             : mst_source_value, default      \
             : mst_source_model)(source)
/** For the definition of a layer's macro:
 *  `MST_LAYER(dense, source, MST_NAMED_1(mst_layer_dense_options, units, __VA_ARGS__))`. */
#define MST_LAYER(type, source, options) \
    _Generic((source), mst_value : mst_layer_value, default : mst_layer_append)(#type, MST_SOURCE(source), &options)
#endif

/** A layer inside another layer. All its options are given by name, even those that its own macro takes without one:
 *  `MST_INNER(conv2d, .filters = 8, .kernel_size = 3)`. */
#define MST_INNER(...) MST_INNER_(__VA_ARGS__, )

/** A second call of a layer: `b = mst_share(a, other)` applies the layer that gave `a` to `other`, with the same
 *  weights. `other` is an output, or a list of outputs. */
#define mst_share(output, source) mst_layer_again((output), MST_SOURCE(source))

#ifdef __cplusplus
}
#endif
#endif
