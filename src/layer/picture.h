/** Functions of the layers that change pictures at random in training. Each picture has draws of its own. */
#ifndef MUSTER_LAYER_PICTURE_H
#define MUSTER_LAYER_PICTURE_H

#include "layer/type.h"
#include "muster/layers.h"

/** Names of mst_picture_fill and mst_picture_sampling, for fields. */
extern const char *const mst_layer_picture_fill_names[];
extern const char *const mst_layer_picture_sampling_names[];

/** How a pixel at a computed place is read, which may be between or outside the source's pixels. */
typedef struct mst_layer_picture_sampler {
    mst_picture_fill fill;
    mst_picture_sampling sampling;
    double fill_value; /**< of pixels outside the picture, for MST_PICTURE_FILL_CONSTANT */
} mst_layer_picture_sampler;

/** The source, pictures [n, height, width, channels]; integers as f32. An error value if it has another form. */
mst_value mst_layer_picture_source(const mst_layer_call *call);
/** Numbers drawn evenly from [LOW, HIGH), one for each picture of SRC: [n, 1, 1, 1]. Draws of one layer differ in their
 *  NUMBER. SEED is the layer's option. */
mst_value mst_layer_picture_draw(mst_value src, double low, double high, uint64_t seed, int number);
/** SRC clipped to [LOW, HIGH], or to [0, 255] if both are 0. */
mst_value mst_layer_picture_clip(mst_value src, double low, double high);
/** MST_INVALID if LOW > HIGH. MEMBER is the name of the option that has LOW, such as "height_lower". TYPE and NAME are
 *  those of the layer. */
MST_CHECKED mst_status mst_layer_picture_check_range(const char *type, const char *name, const char *member, double low,
                                                     double high);
/** Pixel (x, y) of the result is that of SRC at (m0 x + m1 y + m2, m3 x + m4 y + m5), where M has the six numbers for
 *  each picture, [n, 1, 1, 1]; MST_NONE stands for 0. Height and width of SRC must be known. */
mst_value mst_layer_picture_move(const mst_layer_call *call, mst_value src, const mst_value m[6],
                                 const mst_layer_picture_sampler *sampler);

#endif
