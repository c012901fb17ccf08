#include "support/hlo_case.h"

#include <stdio.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "support/test.h"

hlo_value hlo_value_of(const mst_tensor *tensor) {
    return (hlo_value){.spec = {.dtype = mst_tensor_dtype(tensor), .shape = mst_tensor_shape(tensor)},
                       .data = mst_tensor_data(tensor),
                       .bytes = mst_tensor_bytes(tensor)};
}

/* The words that a source takes in step 0 of a graph of the seed 0, as the reference kernel of op_case_reference. */
static hlo_value words_of(hlo_case *h, int i, const mst_hlo_source *source) {
    uint32_t *word = h->word[i];
    word[0] = word[1] = 0;
    if (source->kind == MST_HLO_SOURCE_KEY) {
        const mst_rng rng = mst_rng_make(0, source->stream, 0);
        word[0] = rng.key[0];
        word[1] = rng.key[1];
    }
    return (hlo_value){.spec = source->spec, .data = word, .bytes = 2 * sizeof *word};
}

static mst_status write(hlo_case *h) {
    op_case *c = h->of;
    const mst_node *node = c->out.node;
    mst_hlo src[MST_EXAMPLE_SRC], dst[OP_MOST_DST];
    mst_spec src_spec[MST_EXAMPLE_SRC];
    MST_TRY(mst_hlo_program_create(&h->program));
    for (int i = 0; i < node->num_src; i++) {
        src_spec[i] = mst_value_spec(node->src[i]);
        src[i] = mst_hlo_program_source(h->program, &src_spec[i]);
    }
    mst_lower l = {.op = node->op,
                   .options = node->options,
                   .name = node->name,
                   .num_src = node->num_src,
                   .src = src,
                   .src_spec = src_spec,
                   .num_dst = node->num_dst,
                   .dst = dst,
                   .dst_spec = node->dst};
    MST_TRY(mst_hlo_program_op(h->program, &l));
    for (int k = 0; k < node->num_dst; k++) mst_hlo_program_result(h->program, dst[k]);
    return mst_hlo_program_finish(h->program, &h->text);
}

mst_status hlo_case_begin(hlo_case *h, op_case *c) {
    *h = (hlo_case){.of = c};
    MST_TRY(write(h));
    h->num_arguments = mst_hlo_program_num_sources(h->program);
    assert_in_range(h->num_arguments, 0, HLO_MOST_ARGUMENTS);
    for (int i = 0; i < h->num_arguments; i++) {
        const mst_hlo_source *source = mst_hlo_program_source_at(h->program, i);
        if (source->kind == MST_HLO_SOURCE_VALUE)
            h->argument[i] = hlo_value_of(c->value[i]);
        else if (source->kind == MST_HLO_SOURCE_TENSOR)
            h->argument[i] = hlo_value_of(source->tensor);
        else
            h->argument[i] = words_of(h, i, source);
    }
    h->may_fail = mst_hlo_program_num_faults(h->program) > 0;
    h->fails = op_case_reference(c, -1, h->output);
    h->num_results = c->num_dst;
    for (int k = 0; k < c->num_dst && !h->fails; k++) h->wanted[k] = hlo_value_of(h->output[k]);
    return MST_OK;
}

void hlo_case_end(hlo_case *h) {
    mst_hlo_program_destroy(h->program);
    op_case_release(h->output, OP_MOST_DST);
}
