#include "model/application/application.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/argument.h"
#include "model/model.h"

const char *mst_application_name(mst_application_layer_name *name, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(name->text, sizeof name->text, format, list);
    va_end(list);
    return name->text;
}

static mst_status take_options(const char *name, const mst_application_options *given, mst_application_options *o) {
    if (!given) return mst_argument_null(name, "options", __FILE__, __LINE__);
    if (given->alpha != 0 && o->alpha == 0) return MST_FAIL(MST_INVALID, "%s: has no alpha, leave it out", name);
    if (given->alpha != 0) o->alpha = given->alpha;
    if (!(o->alpha >= 0 && o->alpha <= 100))
        return MST_FAIL(MST_INVALID, "%s: alpha is %g, must be above 0 and at most 100", name, o->alpha);
    if (given->input_shape.ndim) o->input_shape = given->input_shape;
    bool known = o->input_shape.ndim == 2 || o->input_shape.ndim == 3;
    for (int i = 0; i < o->input_shape.ndim && known; i++) known = o->input_shape.dim[i] > 0;
    if (!known)
        return MST_FAIL(MST_INVALID, "%s: input_shape must be height and width, or these and channels, all above 0",
                        name);
    if (given->classes) o->classes = given->classes;
    if (o->classes < 1)
        return MST_FAIL(MST_INVALID, "%s: classes is %lld, must be above 0", name, (long long)o->classes);
    o->no_top = given->no_top;
    o->classifier_activation = given->classifier_activation;
    return MST_OK;
}

bool mst_application_begin(mst_model *model, const char *name, const mst_application_options *given,
                           mst_application_options *options, mst_output *input) {
    *input = (mst_output){model, -1};
    if (!model) return (void)mst_argument_null(name, "model", __FILE__, __LINE__), false;
    if (model->failure.code) return false;
    mst_status status = take_options(name, given, options);
    if (!status && model->num_nodes > 0)
        status = MST_FAIL(MST_INVALID, "%s: the model has layers; give it one without any", name);
    if (status)
        mst_model_stick(model);
    else
        *input = mst_input(model, options->input_shape);
    if (!status && options->input_shape.ndim == 2)
        *input = mst_reshape_to(*input, MST_SHAPE(options->input_shape.dim[0], options->input_shape.dim[1], 1));
    return !model->failure.code;
}

mst_output mst_application_top(mst_output x, const mst_application_options *options, const char *average_name) {
    x = mst_global_average_pooling2d(x, .name = average_name);
    return mst_dense(x, options->classes, .activation = options->classifier_activation, .name = "predictions");
}
