/** lambda: dst = function(context, src, training), where the function may build any graph
 *
 *  src       any shape; with join, several outputs: MST_OUTPUTS(a, b)
 *  function  builds the output in src's graph; it is called each time the model is built: for training, evaluation and
 *            prediction, and for each shard
 *  context   passed to the function; must outlive the model
 *  name      default lambda, lambda_1, ...: also the variable scope in which the function is called
 *  join      instead of function, which is then NULL: builds the output from all num_src sources
 */
#ifdef MST_LAYER_HEADER
typedef mst_value (*mst_build_function)(void *context, mst_value src, bool training);
typedef mst_value (*mst_join_function)(void *context, const mst_value *src, int num_src, bool training);
typedef struct mst_layer_lambda_options {
    int zero_;
    mst_build_function function;
    void *context;
    const char *name;
    mst_join_function join;
} mst_layer_lambda_options;
#define mst_lambda(source, ...) MST_LAYER(lambda, source, MST_NAMED_1(mst_layer_lambda_options, function, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"

static const mst_field fields[] = {
    MST_FIELD_POINTER(mst_layer_lambda_options, function, "that builds the output"),
    MST_FIELD_POINTER(mst_layer_lambda_options, context, "given to the function"),
    MST_FIELD_STRING(mst_layer_lambda_options, name, "of the layer"),
    MST_FIELD_POINTER(mst_layer_lambda_options, join, "that builds the output from several sources"),
    MST_FIELD_END,
};

static mst_status lambda_check(const void *options, const char *name) {
    const mst_layer_lambda_options *o = options;
    if (!o->function && !o->join) return MST_FAIL(MST_INVALID, "lambda '%s': function is NULL", name);
    return o->function && o->join ? MST_FAIL(MST_INVALID, "lambda '%s': has a function and a join: give one", name)
                                  : MST_OK;
}

static mst_value lambda_build(const mst_layer_call *call) {
    const mst_layer_lambda_options *o = call->options;
    if (o->join) return o->join(o->context, call->src, call->num_src, call->training);
    if (call->num_src == 1) return o->function(o->context, call->src[0], call->training);
    MST_FAIL(MST_INVALID, "lambda '%s': its function takes 1 output, it is applied to %d: use .join", call->name,
             call->num_src);
    return mst_layer_fail(call);
}

const mst_layer_type mst_layer_type_lambda = {
    .name = "lambda",
    .class_name = "Lambda",
    .options_size = sizeof(mst_layer_lambda_options),
    .fields = fields,
    .min_src = 1,
    .max_src = MST_MAX_OUTPUTS,
    .check = lambda_check,
    .build = lambda_build,
    .mask = mst_layer_mask_refuse,
};
