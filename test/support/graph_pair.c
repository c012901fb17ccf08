/* Compares two graphs node by node, and the plans and outputs of their runs. */
#include "support/graph_pair.h"

#include <stdio.h>

#include "graph/graph.h"
#include "graph/options.h"
#include "support/test.h"

static void expect_same_tensors(const mst_node *node, const mst_field *field, const void *a, const void *b) {
    const mst_tensor *left = *(mst_tensor *const *)a, *right = *(mst_tensor *const *)b;
    if (!left != !right || (left && !engine_same_bits(left, right)))
        fail_msg("'%s': tensor %s differs", node->name, field->name);
}

static void expect_same_nodes(const mst_node *a, const mst_node *b);

static void expect_same_bodies(const mst_graph *a, const mst_graph *b) {
    assert_int_equal(mst_graph_num_nodes(a), mst_graph_num_nodes(b));
    for (int64_t i = 0; i < mst_graph_num_nodes(a); i++) expect_same_nodes(a->node[i], b->node[i]);
}

static void expect_same_options(const mst_node *a, const mst_node *b) {
    for (const mst_field *field = a->op->fields; field && field->name; field++) {
        const mst_field one[2] = {*field, MST_FIELD_END};
        const void *left = (const char *)a->options + field->offset, *right = (const char *)b->options + field->offset;
        if (field->type == MST_FIELD_TYPE_GRAPH) {
            expect_same_bodies(*(mst_graph *const *)left, *(mst_graph *const *)right);
        } else if (field->type == MST_FIELD_TYPE_TENSOR) {
            expect_same_tensors(a, field, left, right);
        } else if (field->type == MST_FIELD_TYPE_VALUE) {
            const mst_value *from = left, *to = right;
            if (mst_value_is_none(*from) != mst_value_is_none(*to) || from->index != to->index ||
                (from->node && from->node->id != to->node->id))
                fail_msg("'%s': value %s differs", a->name, field->name);
        } else if (!mst_options_equal(one, a->options, b->options)) {
            fail_msg("'%s': option %s differs", a->name, field->name);
        }
    }
}

static void expect_same_nodes(const mst_node *a, const mst_node *b) {
    assert_string_equal(a->name, b->name);
    assert_ptr_equal(a->op, b->op);
    assert_string_equal(a->device, b->device);
    assert_int_equal(a->num_src, b->num_src);
    assert_int_equal(a->num_control, b->num_control);
    assert_int_equal(a->num_dst, b->num_dst);
    for (int i = 0; i < a->num_src; i++) {
        assert_int_equal(a->src[i].node->id, b->src[i].node->id);
        assert_int_equal(a->src[i].index, b->src[i].index);
    }
    for (int i = 0; i < a->num_control; i++) assert_int_equal(a->control[i]->id, b->control[i]->id);
    for (int i = 0; i < a->num_dst; i++) {
        assert_int_equal(a->dst[i].dtype, b->dst[i].dtype);
        assert_true(mst_shape_equal(a->dst[i].shape, b->dst[i].shape));
    }
    expect_same_options(a, b);
}

static void expect_same_text(const mst_graph *a, const mst_graph *b) {
    char *left, *right;
    EXPECT_OK(mst_graph_print(a, &left));
    EXPECT_OK(mst_graph_print(b, &right));
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static void expect_same_collections(const mst_graph *a, const mst_graph *b) {
    assert_int_equal(a->num_collections, b->num_collections);
    for (int64_t i = 0; i < a->num_collections; i++) {
        const mst_collection_list *left = &a->collection[i], *right = &b->collection[i];
        assert_string_equal(left->name, right->name);
        assert_int_equal(left->count, right->count);
        for (int64_t k = 0; k < left->count; k++) {
            assert_int_equal(left->value[k].node->id, right->value[k].node->id);
            assert_int_equal(left->value[k].index, right->value[k].index);
        }
    }
}

void graph_pair_expect_same(const mst_graph *a, const mst_graph *b) {
    EXPECT_OK(mst_graph_check(b));
    assert_int_equal(mst_graph_num_nodes(a), mst_graph_num_nodes(b));
    assert_true(mst_graph_seed(a) == mst_graph_seed(b));
    expect_same_text(a, b);
    for (int64_t i = 0; i < mst_graph_num_nodes(a); i++) expect_same_nodes(mst_graph_node(a, i), mst_graph_node(b, i));
    expect_same_collections(a, b);
}

mst_graph *graph_pair_copy(const mst_graph *graph) {
    void *data, *again;
    size_t size, size_again;
    mst_graph *copy;
    EXPECT_OK(mst_graph_encode(graph, &data, &size));
    EXPECT_OK(mst_graph_decode(data, size, &copy));
    graph_pair_expect_same(graph, copy);
    EXPECT_OK(mst_graph_encode(copy, &again, &size_again));
    assert_int_equal(size, size_again);
    assert_memory_equal(data, again, size);
    free(data);
    free(again);
    return copy;
}

mst_value graph_pair_value(const mst_graph *copy, mst_value value) {
    return mst_value_is_none(value) ? MST_NONE : (mst_value){mst_graph_node(copy, value.node->id), value.index};
}

/* ---- running ---- */

typedef struct outcome {
    mst_status status;
    char message[1024];
    mst_tensor *output[GRAPH_PAIR_MOST];
    char *log; /* the plans */
} outcome;

static mst_status run_times(mst_session *session, int times, const mst_feed *feeds, int num_feeds,
                            const mst_value *fetches, int num_fetches, mst_tensor **output) {
    MST_TRY(mst_session_init_variables(session));
    for (int i = 0; i < times; i++) MST_TRY(mst_session_run(session, feeds, num_feeds, fetches, num_fetches, output));
    return MST_OK;
}

static void run(mst_graph *graph, const char *devices, int times, const mst_feed *feeds, int num_feeds,
                const mst_value *fetches, int num_fetches, outcome *out) {
    *out = (outcome){0};
    size_t size;
    FILE *log = open_memstream(&out->log, &size);
    assert_non_null(log);
    mst_session *session = NULL;
    out->status = mst_session_create(
        graph, &(mst_session_options){.devices = devices ? devices : "cpu:1/1", .plan_log = log}, &session);
    if (!out->status) out->status = run_times(session, times, feeds, num_feeds, fetches, num_fetches, out->output);
    if (out->status) snprintf(out->message, sizeof out->message, "%s", mst_error()->message);
    mst_session_destroy(session);
    fclose(log);
}

void graph_pair_run(mst_graph *graph, mst_graph *copy, const char *devices, int times, const mst_feed *feeds,
                    int num_feeds, const mst_value *fetches, int num_fetches) {
    outcome a, b;
    mst_feed copy_feeds[GRAPH_PAIR_MOST];
    mst_value copy_fetches[GRAPH_PAIR_MOST];
    assert_true(num_feeds <= GRAPH_PAIR_MOST && num_fetches <= GRAPH_PAIR_MOST);
    for (int i = 0; i < num_feeds; i++) {
        copy_feeds[i] = feeds[i];
        copy_feeds[i].value = graph_pair_value(copy, feeds[i].value);
    }
    for (int i = 0; i < num_fetches; i++) copy_fetches[i] = graph_pair_value(copy, fetches[i]);
    run(graph, devices, times, feeds, num_feeds, fetches, num_fetches, &a);
    run(copy, devices, times, copy_feeds, num_feeds, copy_fetches, num_fetches, &b);
    assert_int_equal(a.status, b.status);
    assert_string_equal(a.message, b.message);
    assert_string_equal(a.log, b.log);
    for (int i = 0; i < num_fetches; i++) {
        assert_true(!a.output[i] == !b.output[i]);
        if (a.output[i] && !engine_same_bits(a.output[i], b.output[i]))
            fail_msg("'%s' has other bits in the graph that was read", mst_value_name(fetches[i]));
        mst_tensor_release(a.output[i]);
        mst_tensor_release(b.output[i]);
    }
    free(a.log);
    free(b.log);
}
