/* clang -fsanitize=fuzzer,address,undefined: tf.train.Example and SequenceExample. */
#include <stdlib.h>

#include "format/example.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FEATURES = 6 };

static mst_example_parser *make(void) {
    const mst_feature features[FEATURES] = {
        {.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(4, 4), .has_default = true},
        {.name = "label", .dtype = MST_I32, .has_default = true},
        {.name = "weight", .dtype = MST_F64, .shape = MST_SHAPE(2), .has_default = true},
        {.name = "tokens", .dtype = MST_I64, .shape = MST_SHAPE(5), .variable = true, .has_default = true},
        {.name = "flag", .dtype = MST_BOOL, .shape = MST_SHAPE(3), .variable = true, .has_default = true},
        {.name = "frames", .dtype = MST_F32, .shape = MST_SHAPE(3, 2), .sequence = true, .has_default = true}};
    mst_example_parser *parser;
    if (mst_example_parser_create(features, FEATURES, &parser)) abort();
    return parser;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static mst_example_parser *parser;
    if (!parser) parser = make();
    uint8_t image[16];
    int32_t label;
    double weight[2];
    int64_t tokens[5], length[3];
    bool flag[3];
    float frames[6];
    mst_feature_value value[4];
    int count;
    void *const dst[] = {image, &label, weight, tokens, &length[0], flag, &length[1], frames, &length[2]};
    (void)!mst_example_parse(parser, data, size, dst);
    (void)!mst_example_describe(data, size, value, 4, &count);
    return 0;
}
