/* Computes a value on one CPU device. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/compute.h"
#include "support/expect.h"

mst_value compute_constant(mst_graph *graph, mst_dtype dtype, mst_shape shape, const double *elements) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, elements[i]);
    mst_value value = mst_constant(graph, tensor);
    mst_tensor_release(tensor);
    return value;
}

static mst_status run(mst_value value, mst_tensor **out) {
    mst_session *session;
    MST_TRY(mst_session_create(mst_value_graph(value), NULL, &session));
    mst_status status = mst_session_run(session, NULL, 0, &value, 1, out);
    mst_session_destroy(session);
    return status;
}

mst_tensor *compute(mst_value value) {
    mst_tensor *tensor = NULL;
    EXPECT_OK(mst_graph_check(mst_value_graph(value)));
    EXPECT_OK(run(value, &tensor));
    return tensor;
}

mst_status compute_status(mst_value value) {
    mst_tensor *tensor = NULL;
    mst_status status = run(value, &tensor);
    mst_tensor_release(tensor);
    return status;
}
