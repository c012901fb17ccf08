/* A text CNN as in common tutorials on newswires. It follows Kim, "Convolutional Neural Networks for Sentence
 * Classification" (2014), but its convolutions are one after the other instead of side by side. */
#include "model/application/application.h"
#include "model/model.h"

enum { TOKEN_SIZE = 7 };

mst_output mst_text_cnn_with(mst_model *model, const mst_application_options *options) {
    mst_application_options o = {.input_shape = MST_SHAPE(300), .classes = 46, .vocabulary_size = 30982};
    mst_output x;
    if (!mst_application_begin(model, "mst_text_cnn", options, &o, &x)) return x;
    if (o.input_shape.dim[0] < MST_TEXT_CNN_TOKENS) {
        mst_error_set(MST_INVALID, __FILE__, __LINE__, "mst_text_cnn: texts have %lld tokens, at least %d are needed",
                      (long long)o.input_shape.dim[0], MST_TEXT_CNN_TOKENS);
        mst_model_stick(model);
        return (mst_output){model, -1};
    }
    x = mst_embedding(x, o.vocabulary_size, TOKEN_SIZE);
    x = mst_conv1d(x, 64, 5, .activation = MST_RELU);
    x = mst_max_pooling1d(x, .pool_size = 2);
    x = mst_conv1d(x, 32, 3, .activation = MST_RELU);
    x = mst_max_pooling1d(x, .pool_size = 2);
    if (o.no_top) return x;
    return mst_dense(mst_flatten(x), o.classes, .activation = o.classifier_activation);
}
