#include <muster/muster.h>
#include <stdio.h>

/* Only the tests of the library need the examples of its ops. */
static bool ops_have_examples(void) {
    for (int i = 0; mst_op_at(i); i++)
        if (mst_op_at(i)->examples) return printf("the op %s has examples\n", mst_op_at(i)->name), true;
    return false;
}

int main(void) {
    mst_graph *graph = NULL;
    if (ops_have_examples()) return 1;
    if (mst_graph_create(&graph)) return puts(mst_error()->message), 1;
    mst_value sum = mst_add(mst_scalar(graph, MST_F32, 1), mst_scalar(graph, MST_F32, 2));
    if (mst_graph_check(graph)) return puts(mst_error()->message), 1;
    mst_session *session = NULL;
    mst_tensor *three = NULL;
    if (mst_session_create(graph, NULL, &session) || mst_session_run(session, NULL, 0, &sum, 1, &three))
        return puts(mst_error()->message), 1;
    printf("%s = %g\n", mst_value_name(sum), mst_tensor_get(three, 0));
    int wrong = mst_tensor_get(three, 0) != 3;
    mst_tensor_release(three);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return wrong;
}
