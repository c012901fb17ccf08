#include "model/application/application.h"

#include <stdarg.h>

#include "base/argument.h"
#include "model/model.h"

const char *mst_application_name(char text[64], const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(text, 64, format, args);
    va_end(args);
    return text;
}

static mst_status check_input(const mst_model *model, const char *name, mst_shape shape) {
    if (model->num_nodes > 0) return MST_FAIL(MST_INVALID, "%s: the model has layers; give it one without any", name);
    bool known = shape.ndim == 3;
    for (int i = 0; i < shape.ndim && known; i++) known = shape.dim[i] > 0;
    if (!known) return MST_FAIL(MST_INVALID, "%s: input_shape must be height, width and channels, all above 0", name);
    return MST_OK;
}

mst_output mst_application_input(mst_model *model, const char *name, const mst_application_options *options,
                                 mst_shape default_shape) {
    if (MST_IS_NULL(model)) return (mst_output){0};
    const mst_shape shape = options->input_shape.ndim ? options->input_shape : default_shape;
    if (model->failure.code) return (mst_output){0};
    if (check_input(model, name, shape)) {
        mst_model_stick(model);
        return (mst_output){0};
    }
    return mst_input(model, shape);
}

mst_output mst_application_top(mst_output x, const mst_application_options *options, const char *average_name) {
    x = mst_global_average_pooling2d(x, .name = average_name);
    return mst_dense(x, options->classes ? options->classes : 1000, .activation = options->classifier_activation,
                     .name = "predictions");
}
