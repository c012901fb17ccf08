/** Well-known networks, for pictures and for texts. MobileNetV2 and ResNet50 have the layers, names, initial values and
 *  order of weights that keras.applications gives them:
 *
 *      mst_mobilenet_v2(model, .input_shape = MST_SHAPE(96, 96, 3), .classes = 10);
 *
 *  Each adds all of its layers to MODEL, a model without layers, and gives the output of the last one. Without
 *  `.classifier_activation` the outputs are logits, as the losses "from logits" expect; Keras' networks end with
 *  MST_SOFTMAX. The first error is kept on the model, as for layers.
 */
#ifndef MUSTER_APPLICATIONS_H
#define MUSTER_APPLICATIONS_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/layers.h"
#include "muster/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_application_options {
    int zero_;
    mst_shape input_shape;   /**< [height, width, channels]; default [224, 224, 3], LeNet: [28, 28, 1]. Of [height,
                              *   width], a first layer adds the dimension of channels. Text CNN: [tokens in a text],
                              *   default [300] */
    double alpha;            /**< MobileNetV2, U-Net: factor of the numbers of channels; up to 100, default 1 */
    int64_t vocabulary_size; /**< text CNN only: tokens are less than this; default 30982 */
    bool no_top;             /**< the output is the last features, [n, rows, columns, channels] */
    int64_t classes;         /**< default 1000 (LeNet: 10, text CNN: 46) */
    mst_activation classifier_activation; /**< default linear: logits */
    int end_;
} mst_application_options;

/** MobileNetV2 (Sandler et al., 2018): 3,538,984 parameters with 1,000 classes, 2,257,984 without its top. The
 *  channels of each layer, times alpha, are rounded to a multiple of 8. */
MST_API mst_output mst_mobilenet_v2_with(mst_model *model, const mst_application_options *options);
#define mst_mobilenet_v2(...) MST_APPLICATION_(mobilenet_v2, __VA_ARGS__, .end_ = 0)

/** ResNet50 (He et al., 2015), version 1: 25,636,712 parameters with 1,000 classes. */
MST_API mst_output mst_resnet50_with(mst_model *model, const mst_application_options *options);
#define mst_resnet50(...) MST_APPLICATION_(resnet50, __VA_ARGS__, .end_ = 0)

/** LeNet-5 (LeCun et al., 1998) as it is built today: two convolutions of 5x5 with tanh and average pooling, then three
 *  dense layers. It has 61,706 parameters for pictures of 28x28. */
MST_API mst_output mst_lenet_with(mst_model *model, const mst_application_options *options);
#define mst_lenet(...) MST_APPLICATION_(lenet, __VA_ARGS__, .end_ = 0)

/** U-Net (Ronneberger et al., 2015), which gives classes for each pixel: [n, height, width, classes]. Height and width
 *  must be multiples of 16. As usual today, convolutions are padded, so that the output has the size of the input. With
 *  two classes and three channels it has 31,031,810 parameters; .alpha = 0.25 has 1,941,122. `no_top` leaves out the
 *  last convolution of 1x1. */
MST_API mst_output mst_unet_with(mst_model *model, const mst_application_options *options);
#define mst_unet(...) MST_APPLICATION_(unet, __VA_ARGS__, .end_ = 0)

/** A convolutional network for texts, whose tokens are numbers (mst_dataset_vectorize_text). Its layers: an embedding
 *  of 7 numbers for each token; a convolution of 64 channels over 5 positions, and one of 32 channels over 3 positions,
 *  each with relu and a max pooling of 2; a dense layer. With the defaults it has 332,856 parameters. */
MST_API mst_output mst_text_cnn_with(mst_model *model, const mst_application_options *options);
#define mst_text_cnn(...) MST_APPLICATION_(text_cnn, __VA_ARGS__, .end_ = 0)

typedef struct mst_gpt_options {
    int zero_;
    int64_t layers, width, heads; /**< default 12, 768, 12; width is a multiple of heads */
    int64_t vocabulary_size;      /**< tokens are less than this; default 50257 */
    int64_t positions;            /**< tokens of an example; default 1024 */
    int64_t key_value_heads;      /**< number of heads of keys and values, which must divide `heads`; default `heads` */
    int64_t inner;                /**< units of the inner layer; default 4 width, llama: 8/3 width in steps of 256 */
    float dropout;                /**< in training, of the embeddings and each residual part; default 0 */
    bool llama;                   /**< RMS normalization, rotary positions, SwiGLU and no biases, as Llama */
    bool untied;                  /**< the output layer does not share the weights of the token embedding */
    double rotary_base;           /**< of llama's positions; default 10000 */
    float epsilon;                /**< of the normalizations; default 1e-5 */
    int end_;
} mst_gpt_options;

/** A transformer that predicts the next token; with the defaults it is GPT-2's smallest, with 124,439,808 parameters.
 *  Its input is i32 [n, positions], its output the logits [n, positions, vocabulary_size]. The logits at position p
 *  predict the token at p + 1 from the tokens up to p. Train it with MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY and with
 *  labels that are the inputs shifted by one token, i64 or i32 [n, positions].
 *
 *  It adds the layers token_embedding, position_embedding (not llama), for i = 1 to layers block_<i>_norm_1,
 *  block_<i>_attention, block_<i>_norm_2, block_<i>_inner and block_<i>_outer, then norm and logits. Attention does not
 *  store a matrix of all pairs of positions (mst_scaled_dot_product_attention). Kernels and embeddings begin with a
 *  normal distribution of stddev 0.02. */
MST_API mst_output mst_gpt_with(mst_model *model, const mst_gpt_options *options);
#define mst_gpt(...) MST_GPT_(__VA_ARGS__, .end_ = 0)
#define MST_GPT_(model, ...) mst_gpt_with(model, &MST_NAMED(mst_gpt_options, __VA_ARGS__))

#define MST_APPLICATION_(name, ...) MST_APPLICATION__(name, __VA_ARGS__)
#define MST_APPLICATION__(name, model, ...) mst_##name##_with(model, &MST_NAMED(mst_application_options, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
