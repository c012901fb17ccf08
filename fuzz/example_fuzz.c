/* clang -fsanitize=fuzzer,address,undefined: tf.train.Example and SequenceExample. */
#include <stdlib.h>

#include "format/example.h"
#include "memory.h"

enum { FEATURES = 9, COMPONENTS = 14 };

static mst_example_parser *make(void) {
    const mst_feature features[FEATURES] = {
        {.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(4, 4), .has_default = true},
        {.name = "label", .dtype = MST_I32, .has_default = true},
        {.name = "weight", .dtype = MST_F64, .shape = MST_SHAPE(2), .has_default = true},
        {.name = "tokens", .dtype = MST_I64, .shape = MST_SHAPE(5), .variable = true, .has_default = true},
        {.name = "flag", .dtype = MST_BOOL, .shape = MST_SHAPE(3), .variable = true, .has_default = true},
        {.name = "frames", .dtype = MST_F32, .shape = MST_SHAPE(3, 2), .sequence = true, .has_default = true},
        {.name = "text", .dtype = MST_STRING, .shape = MST_SHAPE(2), .has_default = true},
        {.name = "words", .dtype = MST_STRING, .shape = MST_SHAPE(-1), .variable = true, .has_default = true},
        {.name = "steps", .dtype = MST_I64, .shape = MST_SHAPE(-1, 2), .sequence = true, .has_default = true}};
    mst_example_parser *parser;
    if (mst_example_parser_create(features, FEATURES, &parser)) abort();
    return parser;
}

static void read_input(const uint8_t *data, size_t size) {
    static mst_example_parser *parser;
    if (!parser) parser = make();
    uint8_t image[16];
    int32_t label;
    double weight[2];
    int64_t tokens[5], length[3];
    bool flag[3];
    float frames[6];
    mst_string text[2], *words = NULL;
    int64_t *steps = NULL, open[2] = {0};
    mst_feature_value value[4];
    int count;
    void *dst[COMPONENTS] = {[11] = &open[0], [13] = &open[1]};
    if (mst_example_parse(parser, data, size, dst) == MST_OK) {
        words = calloc((size_t)open[0] + 1, sizeof *words);
        steps = calloc(2 * (size_t)open[1] + 1, sizeof *steps);
    }
    void *all[COMPONENTS] = {image,  &label,     weight, tokens, &length[0], flag,  &length[1],
                             frames, &length[2], text,   words,  &open[0],   steps, &open[1]};
    size_t bytes = 0;
    if (mst_example_parse(parser, data, size, all) == MST_OK && words)
        for (int64_t i = 0; i < open[0]; i++) bytes += words[i].length;
    if (bytes > size) abort();
    free(words);
    free(steps);
    (void)!mst_example_describe(data, size, value, 4, &count);
}

FUZZ(read_input, 32, 64 << 10)
