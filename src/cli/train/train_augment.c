/* Random changes of the pictures of the train part. They are added after the inputs are scaled and the validation part
 * is taken, so that the validation part stays unchanged. */
#include "cli/train/train_augment.h"

#include "cli/command.h"
#include "cli/model/scale_inputs.h"
#include "cli/train/train_data.h"

/* How much of --brightness, which is given for pixels from 0 to 1, the range of the inputs is. */
static double range_of(const training *t) {
    static const double LEVELS = 255, DEVIATION = 0.226; /* of torch, the mean of the channels */
    const network_input *input = t->network ? &t->ends.input[0] : NULL;
    const mst_dtype stored = t->stored_inputs[0];
    const int pixels = training_pixels(t);
    if (stored != MST_U8 || scale_inputs_divides(pixels, stored, input)) return 1;
    return pixels == PIXELS_TF ? 2 : pixels == PIXELS_TORCH ? 1 / DEVIATION : LEVELS;
}

/* Adds one more transform to t->train if OPTION asks for it, that is if WANTED. CALL makes it, as `made`. */
#define ADD(option, wanted, call)                                   \
    do {                                                            \
        mst_dataset *made;                                          \
        if (!(wanted)) break;                                       \
        if (call) return command_fail_library(EXIT_FAILED, option); \
        mst_dataset_release(t->train);                              \
        t->train = made;                                            \
    } while (0)

enum { CLASSES, PICTURES, UNKNOWN };

/* The kind of the labels of pictures of SHAPE: classes, which stay the same when a picture moves; pictures, which move
 * with it; or other labels, whose relation to places in the picture is unknown. */
static int kind_of_labels(const mst_dataset *data, mst_shape shape) {
    if (mst_dataset_num_components(data) < 2 || shape.ndim < 2) return CLASSES;
    const mst_shape label = mst_dataset_spec(data, 1).shape;
    const int64_t pixels = shape.dim[0] * shape.dim[1];
    /* a row with so many numbers for each pixel may be a picture */
    if (label.ndim < 2) return label.ndim == 1 && pixels > 1 && label.dim[0] % pixels == 0 ? UNKNOWN : CLASSES;
    return label.ndim < 4 && label.dim[0] == shape.dim[0] && label.dim[1] == shape.dim[1] ? PICTURES : UNKNOWN;
}

/* The option that moves pixels; NULL: none was given. */
static const char *moving_option(const train_options *o) {
    return o->flip              ? "flip"
           : o->crop_padding    ? "crop-padding"
           : o->rotation > 0    ? "rotation"
           : o->zoom > 0        ? "zoom"
           : o->translation > 0 ? "translation"
                                : NULL;
}

static int refuse_labels(const training *t, mst_shape shape) {
    char picture[MST_SHAPE_TEXT], label[MST_SHAPE_TEXT];
    return command_fail(
        EXIT_FAILED,
        "--%s moves pictures, which are %s, and labels of the shape %s cannot be moved along: they must "
        "have the height and width of the pictures, or be classes",
        moving_option(t->o), mst_shape_print(shape, picture, sizeof picture),
        mst_shape_print(mst_dataset_spec(t->train, 1).shape, label, sizeof label));
}

/* How pixels beside a picture and between others are made is asked by these changes alone. */
static int check_how_they_move(const training *t) {
    const train_options *o = t->o;
    const char *option = option_given(t->list, "fill-mode")       ? "fill-mode"
                         : option_given(t->list, "interpolation") ? "interpolation"
                                                                  : NULL;
    if (!option || o->rotation > 0 || o->zoom > 0 || o->translation > 0) return EXIT_DONE;
    return command_fail(EXIT_USAGE,
                        "train: --%s is for --rotation, --zoom and --translation: give one, or leave it out", option);
}

/* Labels that are whole numbers, such as classes of pixels, are not mixed. */
static int add_affine(training *t, int component) {
    const train_options *o = t->o;
    const bool nearest = o->interpolation == INTERPOLATION_NEAREST ||
                         (component > 0 && !mst_dtype_is_float(mst_dataset_spec(t->train, component).dtype));
    const mst_affine_options affine = {.fill_mode = (mst_fill_mode)o->fill_mode,
                                       .interpolation = nearest ? MST_RESIZE_NEAREST : MST_RESIZE_BILINEAR};
    ADD("rotation", o->rotation > 0,
        mst_dataset_random_rotation(t->train, component, -o->rotation, o->rotation, o->seed, &affine, &made));
    ADD("zoom", o->zoom > 0, mst_dataset_random_zoom(t->train, component, -o->zoom, o->zoom, o->seed, &affine, &made));
    ADD("translation", o->translation > 0,
        mst_dataset_random_translation(t->train, component, -o->translation, o->translation, o->seed, &affine, &made));
    return EXIT_DONE;
}

/* Labels that are pictures move together with the inputs, since transforms of one type draw the same random numbers for
 * each component. */
int train_augment(training *t) {
    const train_options *o = t->o;
    const mst_shape shape = mst_dataset_spec(t->train, 0).shape;
    const int labels = kind_of_labels(t->train, shape);
    if (check_how_they_move(t)) return EXIT_USAGE;
    if (moving_option(o) && labels == UNKNOWN) return refuse_labels(t, shape);
    for (int i = 0; i <= (labels == PICTURES); i++) {
        ADD("flip", o->flip, mst_dataset_random_flip(t->train, i, MST_FLIP_LEFT_RIGHT, o->seed, &made));
        ADD("crop-padding", o->crop_padding,
            mst_dataset_random_crop(t->train, i, shape.dim[0], shape.dim[1], o->crop_padding, o->seed, &made));
        if (add_affine(t, i)) return EXIT_FAILED;
    }
    ADD("brightness", o->brightness > 0,
        mst_dataset_random_brightness(t->train, 0, o->brightness * range_of(t), o->seed, &made));
    ADD("contrast", o->contrast > 0,
        mst_dataset_random_contrast(t->train, 0, 1 - o->contrast, 1 + o->contrast, o->seed, &made));
    return EXIT_DONE;
}
