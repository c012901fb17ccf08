/** The inside of a model: its layers, and what compiling made. */
#ifndef MUSTER_MODEL_MODEL_H
#define MUSTER_MODEL_MODEL_H

#include "base/arena.h"
#include "base/failure.h"
#include "muster/model.h"
#include "muster/store.h"

typedef struct mst_model_layer {
    mst_value (*build)(const struct mst_model_layer *layer, mst_value x, bool training);
    mst_layer_dense_options dense;
    const char *kernel_name, *bias_name;
    double rate;
    mst_activation activation;
    mst_build_function function;
    void *context;
} mst_model_layer;

struct mst_model {
    mst_arena arena;
    mst_model_layer *layer;
    int64_t num_layers, layer_capacity;
    int num_dense;
    mst_failure failure;         /**< the first error; code MST_OK: there is none */
    mst_store *store;            /**< weights and all other state; stays when the model is compiled again */
    struct mst_trainer *trainer; /**< made by mst_compile */
    void (*destroy_trainer)(struct mst_trainer *trainer);
    bool in_fit; /**< the trainer is in use: a callback must not replace it */
};

#endif
