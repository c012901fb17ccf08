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

static mst_status take_vocabulary(const char *name, const mst_application_options *given, mst_application_options *o) {
    if (given->vocabulary_size && !o->vocabulary_size)
        return MST_FAIL(MST_INVALID, "%s: has no vocabulary, leave vocabulary_size out", name);
    if (given->vocabulary_size) o->vocabulary_size = given->vocabulary_size;
    if (o->vocabulary_size >= 0) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: vocabulary_size is %lld, must be above 0", name, (long long)o->vocabulary_size);
}

static mst_status take_options(const char *name, const mst_application_options *given, mst_application_options *o) {
    if (!given) return mst_argument_null(name, "options", __FILE__, __LINE__);
    if (given->alpha != 0 && o->alpha == 0) return MST_FAIL(MST_INVALID, "%s: has no alpha, leave it out", name);
    if (given->alpha != 0) o->alpha = given->alpha;
    if (!(o->alpha >= 0 && o->alpha <= 100))
        return MST_FAIL(MST_INVALID, "%s: alpha is %g, must be above 0 and at most 100", name, o->alpha);
    if (given->input_shape.ndim) o->input_shape = given->input_shape;
    const bool is_text = o->vocabulary_size > 0;
    bool known = is_text ? o->input_shape.ndim == 1 : o->input_shape.ndim == 2 || o->input_shape.ndim == 3;
    for (int i = 0; i < o->input_shape.ndim && known; i++) known = o->input_shape.dim[i] > 0;
    if (!known)
        return MST_FAIL(MST_INVALID, "%s: input_shape must be %s above 0", name,
                        is_text ? "the length of a text," : "height and width, or these and channels, all");
    MST_TRY(take_vocabulary(name, given, o));
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
        *input = mst_input(model, options->input_shape, .dtype = options->vocabulary_size ? MST_I32 : MST_F32);
    if (!status && options->input_shape.ndim == 2)
        *input = mst_reshape_to(*input, MST_SHAPE(options->input_shape.dim[0], options->input_shape.dim[1], 1));
    return !model->failure.code;
}

mst_output mst_application_top(mst_output x, const mst_application_options *options, const char *average_name) {
    x = mst_global_average_pooling2d(x, .name = average_name);
    return mst_dense(x, options->classes, .activation = options->classifier_activation, .name = "predictions");
}
