#include "support/all_fields.h"

#include <string.h>

static const char *const joins[] = {"mean", "sum", "first_of_all", NULL};

static const mst_field fields[] = {
    MST_FIELD_BOOL(all_options, flag, "a flag"),
    MST_FIELD_BOOL(all_options, keep_dims, "another"),
    MST_FIELD_I32(all_options, axis, 0, 0, 0, "an axis"),
    MST_FIELD_I64(all_options, large, 0, 0, 0, "a large number"),
    MST_FIELD_U64(all_options, seeds, "seeds"),
    MST_FIELD_F32(all_options, rate, 0, 0, 0, "a rate"),
    MST_FIELD_F64(all_options, factor, 0, 0, 0, "a factor"),
    MST_FIELD_DTYPE(all_options, dtype, 0, "a dtype"),
    MST_FIELD_SHAPE(all_options, shape, "a shape"),
    MST_FIELD_AXES(all_options, axes, "axes"),
    MST_FIELD_STRING(all_options, text, "text"),
    MST_FIELD_TENSOR(all_options, tensor, "a tensor"),
    MST_FIELD_ENUM(all_options, join, 0, joins, "how to join"),
    MST_FIELD_VALUE(all_options, initial, "a value"),
    {"nested.member", MST_FIELD_TYPE_I32, offsetof(all_options, nested.member), 0, 0, 0, "of a struct", NULL, NULL},
    MST_FIELD_POINTER(all_options, pointer, "a pointer"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = MST_F32};
    return MST_OK;
}

static mst_status reference(const mst_kernel_args *a) {
    *(float *)a->dst[0].data = (float)a->num_src;
    return MST_OK;
}

const mst_op all_op = {
    .name = "all_fields",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .fields = fields,
    .options_size = sizeof(all_options),
    .infer = infer,
    .reference = reference,
};

void all_options_random(const uint32_t *word, char *string, all_options *options) {
    *options = (all_options){.flag = word[0] & 1, .join = (int)(word[0] >> 1 & 1), .text = string};
    memcpy(&options->axis, &word[1], sizeof options->axis);
    memcpy(&options->nested.member, &word[11], sizeof options->nested.member);
    memcpy(&options->large, &word[2], sizeof options->large);
    memcpy(&options->seeds, &word[4], sizeof options->seeds);
    memcpy(&options->rate, &word[6], sizeof options->rate);
    memcpy(&options->factor, &word[7], sizeof options->factor);
    options->dtype = (mst_dtype)(word[9] % MST_NUM_DTYPES);
    options->shape = MST_SHAPE((int64_t)word[9], (int64_t)options->axis, -1);
    options->axes = MST_AXES((int)options->axis, (int)(word[10] >> 1));
    memcpy(string, word + 12, 12);
    string[12] = '\0';
}
