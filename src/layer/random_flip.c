/** random_flip: in training, each picture is flipped with probability 1/2; otherwise dst = src
 *
 *  src   [n, height, width, channels]; integers become f32
 *  mode  MST_PICTURE_FLIP_BOTH (the default) flips left and right, and top and bottom, both or none; the other modes
 *        only one
 *  seed  of the draws; 0 (default): made from the layer's name
 *  name  default random_flip, random_flip_1, ...
 *  dst   like src
 */
#ifdef MST_LAYER_HEADER
typedef enum mst_picture_flip {
    MST_PICTURE_FLIP_BOTH,
    MST_PICTURE_FLIP_HORIZONTAL,
    MST_PICTURE_FLIP_VERTICAL
} mst_picture_flip;
typedef struct mst_layer_random_flip_options {
    int zero_;
    mst_picture_flip mode;
    uint64_t seed;
    const char *name;
} mst_layer_random_flip_options;
#define mst_random_flip(source, ...) \
    MST_LAYER(random_flip, source, MST_NAMED(mst_layer_random_flip_options, __VA_ARGS__))
#endif
#include "layer/picture.h"
#include "muster/ops.h"

static const char *const modes[] = {"horizontal_and_vertical", "horizontal", "vertical", NULL};

static const mst_field fields[] = {
    MST_FIELD_ENUM(mst_layer_random_flip_options, mode, 0, modes, "what is flipped"),
    MST_FIELD_U64(mst_layer_random_flip_options, seed, "of the draws; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_random_flip_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value random_flip_build(const mst_layer_call *call) {
    const mst_layer_random_flip_options *o = call->options;
    const mst_value src = mst_layer_picture_source(call);
    if (!call->training) return src;
    const int32_t rows = o->mode == MST_PICTURE_FLIP_HORIZONTAL ? 1 : -1,
                  columns = o->mode == MST_PICTURE_FLIP_VERTICAL ? 1 : -1;
    const mst_value flipped = mst_strided_slice(src, .begin = MST_AXES(0, 0, 0), .end = MST_AXES(0, 0, 0),
                                                .strides = MST_AXES(1, rows, columns), .begin_mask = 7, .end_mask = 7);
    const mst_value draw = mst_layer_picture_draw(src, -0.5, 0.5, o->seed, 0);
    return mst_select(mst_less(draw, mst_zeros_like(draw)), flipped, src);
}

const mst_layer_type mst_layer_type_random_flip = {
    .name = "random_flip",
    .class_name = "RandomFlip",
    .options_size = sizeof(mst_layer_random_flip_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = random_flip_build,
};
