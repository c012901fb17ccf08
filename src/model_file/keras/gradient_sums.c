#include "model_file/keras/gradient_sums.h"

#include "graph/graph.h"

mst_status mst_gradient_sums_begin(mst_model *model, double number, mst_gradient_sums *out) {
    *out = (mst_gradient_sums){.model = model, .number = number};
    return number != 0 ? mst_model_describe(model, &out->description) : MST_OK;
}

void mst_gradient_sums_free(mst_gradient_sums *sums) {
    mst_model_forget(&sums->description);
}

/* The gradient of the penalty of a weight w: l2 * w + l1 * sign(w) */
static double penalty_gradient(double w, double l1, double l2) {
    return l2 * w + l1 * ((w > 0) - (w < 0));
}

mst_status mst_gradient_sums_of(const mst_gradient_sums *sums, const char *weight, mst_tensor *sum, mst_tensor **out) {
    mst_graph *graph = sums->description.graph;
    const mst_value variable = {.node = graph ? mst_graph_find(graph, weight) : NULL};
    float l1 = 0, l2 = 0;
    mst_tensor *w;
    if (variable.node) mst_variable_penalty(variable, &l1, &l2);
    *out = NULL;
    if (l1 == 0 && l2 == 0) {
        *out = mst_tensor_retain(sum);
        return MST_OK;
    }
    MST_TRY(mst_store_get(sums->model->store, NULL, weight, &w));
    const mst_status status = mst_tensor_create(mst_tensor_dtype(sum), mst_tensor_shape(sum), out);
    for (int64_t i = 0; !status && i < mst_tensor_count(sum); i++) {
        const double more = penalty_gradient(mst_tensor_get(w, i), (double)l1, (double)l2);
        mst_tensor_set(*out, i, mst_tensor_get(sum, i) + sums->number * more);
    }
    mst_tensor_release(w);
    return status;
}
