/* The first program of many tutorials of TensorFlow: a constant string, fetched from a session. It is on the second of
 * two devices, the CPU's cores shared between them. */
#include <muster/muster.h>
#include <stdio.h>

static mst_status run(void) {
    mst_graph *graph;
    mst_session *session;
    mst_tensor *output = NULL;
    mst_value hello = MST_NONE;
    MST_TRY(mst_graph_create(&graph));
    mst_with_device (graph, "/cpu:1") hello = mst_string_scalar(graph, "Hello, distributed TensorFlow!");
    MST_TRY(mst_session_create(graph, &(mst_session_options){.devices = "cpu:2"}, &session));
    MST_TRY(mst_session_run(session, NULL, 0, &hello, 1, &output));
    printf("%s\n", mst_tensor_get_string(output, 0).data);
    mst_tensor_release(output);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return MST_OK;
}

int main(void) {
    if (run()) return fprintf(stderr, "error: %s\n", mst_error()->message), 1;
    return 0;
}
