/** The C side of forms_test.py:
 *
 *      parity_forms FOLDER    writes a graph of one op for each example of each op that computes something, and prints
 *                             for each one JSON line: {"file", "op", "example", "dtype", "open", "random",
 *                             "feeds": {NODE: TENSOR, ...}, "fetches": [NAME, ...], "values": [TENSOR, ...]}; of an op
 *                             that only orders others nothing is fetched
 *
 *  TENSOR is {"dtype": "f32", "shape": [2], "values": [...]}; NaN and infinities are strings, a value of "string" is a
 *  list of its bytes. "open" tells whether the dimensions of the sources are not known in the graph; "random" whether
 *  the op draws numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/rng.h"
#include "muster/muster.h"

enum { MOST_DST = 8, TEXT = 512 };

typedef struct example_case {
    const mst_op *op;
    const mst_example *example;
    mst_dtype dtype;
    bool open;
    mst_graph *graph;
    mst_value src[MST_EXAMPLE_SRC], dst[MOST_DST];
    mst_tensor *fed[MST_EXAMPLE_SRC], *value[MOST_DST];
    int num_dst;
} example_case;

/* ---- values ---- */

static mst_status random_tensor(const example_case *c, int i, mst_dtype dtype, mst_shape shape, mst_tensor **out) {
    double low = c->example->src[i].low, high = c->example->src[i].high;
    const double *given = c->example->src[i].value;
    if (low == 0 && high == 0) {
        low = dtype == MST_U8 || dtype == MST_BOOL ? 0 : -2;
        high = dtype == MST_BOOL ? 1 : 2;
    }
    MST_TRY(mst_tensor_create(dtype, shape, out));
    const mst_rng rng = mst_rng_make(mst_rng_hash_name(c->op->name), (uint64_t)i, (uint64_t)dtype);
    for (int64_t e = 0; e < mst_tensor_count(*out); e++) {
        uint32_t word[4];
        mst_rng_blocks(&rng, (uint64_t)e, 1, 0, word);
        const double unit = mst_rng_unit_f64(word[0], word[1]);
        double x = mst_dtype_is_float(dtype) ? low + (high - low) * unit : floor(low + (high - low + 1) * unit);
        if (given) x = given[e];
        if (dtype == MST_STRING)
            MST_TRY(mst_tensor_set_string(*out, e, (mst_string){&"abcdef"[(int)x & 3], 2}));
        else
            mst_tensor_set(*out, e, x);
    }
    return MST_OK;
}

static json_t *number_of(double x) {
    if (isnan(x)) return json_string("nan");
    return isinf(x) ? json_string(x > 0 ? "inf" : "-inf") : json_real(x);
}

static json_t *json_of(const mst_tensor *tensor) {
    json_t *shape = json_array(), *values = json_array();
    const mst_dtype dtype = mst_tensor_dtype(tensor);
    const mst_shape dims = mst_tensor_shape(tensor);
    for (int k = 0; k < dims.ndim; k++) json_array_append_new(shape, json_integer(dims.dim[k]));
    for (int64_t e = 0; e < mst_tensor_count(tensor); e++) {
        json_t *value;
        if (dtype == MST_STRING) {
            const mst_string string = mst_tensor_get_string(tensor, e);
            value = json_array();
            for (size_t k = 0; k < string.length; k++)
                json_array_append_new(value, json_integer((unsigned char)string.data[k]));
        } else if (dtype == MST_I64) {
            value = json_integer(((const int64_t *)mst_tensor_data((mst_tensor *)(uintptr_t)tensor))[e]);
        } else {
            value = number_of(mst_tensor_get(tensor, e));
        }
        json_array_append_new(values, value);
    }
    return json_pack("{ss so so}", "dtype", mst_dtype_name(dtype), "shape", shape, "values", values);
}

/* ---- graphs ---- */

static mst_status build(example_case *c) {
    const mst_example *example = c->example;
    for (int i = 0; i < example->num_src; i++) {
        const mst_dtype dtype = example->src[i].dtype ? example->src[i].dtype : c->dtype;
        mst_shape shape = mst_shape_make(example->src[i].ndim, example->src[i].dim);
        MST_TRY(random_tensor(c, i, dtype, shape, &c->fed[i]));
        for (int k = 0; k < shape.ndim && c->open; k++) shape.dim[k] = -1;
        c->src[i] = mst_placeholder(.graph = c->graph, .dtype = dtype, .shape = shape);
    }
    void *zero = calloc(1, c->op->options_size + 1);
    if (!zero) return MST_FAIL(MST_OUT_OF_MEMORY, "no memory");
    mst_value out =
        mst_call_named(c->graph, c->op, "the_op", example->num_src, c->src, example->options ? example->options : zero);
    free(zero);
    MST_TRY(mst_graph_check(c->graph));
    c->num_dst = mst_node_num_dst(out.node);
    for (int k = 0; k < c->num_dst; k++) c->dst[k] = mst_value_output(out, k);
    return MST_OK;
}

static mst_status compute(example_case *c) {
    mst_feed feeds[MST_EXAMPLE_SRC];
    mst_session *session;
    for (int i = 0; i < c->example->num_src; i++) feeds[i] = (mst_feed){.value = c->src[i], .tensor = c->fed[i]};
    MST_TRY(mst_session_create(c->graph, &(mst_session_options){.devices = "cpu:1/1"}, &session));
    mst_status status = mst_session_run(session, feeds, c->example->num_src, c->dst, c->num_dst, c->value);
    mst_session_destroy(session);
    return status;
}

static mst_status tell(const example_case *c, const char *folder, int number) {
    char file[TEXT], fetch[TEXT];
    json_t *feeds = json_object(), *fetches = json_array(), *values = json_array();
    snprintf(file, sizeof file, "%s/%d", folder, number);
    MST_TRY(mst_graph_write(c->graph, file));
    for (int i = 0; i < c->example->num_src; i++)
        json_object_set_new(feeds, mst_value_name(c->src[i]), json_of(c->fed[i]));
    for (int k = 0; k < c->num_dst && !(c->op->flags & MST_OP_NO_VALUE); k++) {
        snprintf(fetch, sizeof fetch, "the_op:%d", k);
        json_array_append_new(fetches, json_string(fetch));
        json_array_append_new(values, json_of(c->value[k]));
    }
    const bool is_random = strncmp(c->op->name, "random", 6) == 0 || strcmp(c->op->name, "dropout") == 0;
    json_t *line = json_pack("{ss ss ss ss sb sb so so so}", "file", file, "op", c->op->name, "example",
                             c->example->name ? c->example->name : "", "dtype", mst_dtype_name(c->dtype), "open",
                             c->open, "random", is_random, "feeds", feeds, "fetches", fetches, "values", values);
    char *text = json_dumps(line, JSON_COMPACT);
    printf("%s\n", text);
    free(text);
    json_decref(line);
    return MST_OK;
}

static mst_status try_case(example_case *c, const char *folder, int *number) {
    MST_TRY(mst_graph_create(&c->graph));
    mst_status status = MST_OK;
    if (!build(c) && !compute(c)) status = tell(c, folder, (*number)++); /* errors are for other tests */
    mst_graph_destroy(c->graph);
    for (int i = 0; i < MST_EXAMPLE_SRC; i++) mst_tensor_release(c->fed[i]);
    for (int k = 0; k < MOST_DST; k++) mst_tensor_release(c->value[k]);
    return status;
}

static mst_status try_op(const mst_op *op, const char *folder, int *number) {
    for (int k = 0; k < op->num_examples; k++) {
        const mst_example *example = &op->examples[k];
        const unsigned dtypes = example->dtypes ? example->dtypes : op->dtypes;
        bool is_open = example->num_src == 0, first = true;
        int64_t elements = 0;
        for (int s = 0; s < example->num_src; s++) {
            is_open |= example->src[s].dtype == MST_NO_DTYPE;
            elements += mst_shape_count(mst_shape_make(example->src[s].ndim, example->src[s].dim));
        }
        if (example->fails || elements > 20000) continue;
        for (int dtype = 1; dtype < MST_NUM_DTYPES; dtype++) {
            if (!(is_open ? (dtypes & MST_DTYPE_BIT(dtype)) != 0 : first)) continue;
            for (int open = 0; open < 2; open++) {
                example_case c = {.op = op, .example = example, .dtype = (mst_dtype)dtype, .open = open};
                if (open == 0 || (first && example->num_src)) MST_TRY(try_case(&c, folder, number));
            }
            first = false;
        }
    }
    return MST_OK;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const mst_op *op;
    mst_status status = MST_OK;
    int number = 0;
    for (int i = 0; (op = mst_op_at(i)) && !status; i++) status = try_op(op, argv[1], &number);
    if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
    return status ? 1 : 0;
}
