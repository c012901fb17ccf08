/* Random changes of the train part's pictures. They come after the inputs are scaled and a validation part was taken,
 * so that what training is measured on stays as it is. */
#include "cli/train/train_augment.h"

#include "cli/command.h"
#include "cli/scale_inputs.h"

enum { LEVELS = 255 };

/* One more transform, where OPTION asks for it. */
#define ADD(option, wanted, call)                                   \
    do {                                                            \
        mst_dataset *made;                                          \
        if (!(wanted)) break;                                       \
        if (call) return command_fail_library(EXIT_FAILED, option); \
        mst_dataset_release(t->train);                              \
        t->train = made;                                            \
    } while (0)

int train_augment(training *t) {
    const train_options *o = t->o;
    const mst_shape shape = mst_dataset_spec(t->train, 0).shape;
    /* brightness is that of pixels from 0 to 1 */
    const mst_network_input *input = t->network ? &t->ends.input[0] : NULL;
    const mst_dtype stored = t->stored_inputs[0];
    const double most = stored == MST_U8 && !scale_inputs_divides(o->raw_pixels, stored, input) ? LEVELS : 1;
    ADD("flip", o->flip, mst_dataset_random_flip(t->train, 0, MST_FLIP_LEFT_RIGHT, o->seed, &made));
    ADD("crop-padding", o->crop_padding,
        mst_dataset_random_crop(t->train, 0, shape.dim[0], shape.dim[1], o->crop_padding, o->seed, &made));
    ADD("brightness", o->brightness > 0,
        mst_dataset_random_brightness(t->train, 0, o->brightness * most, o->seed, &made));
    ADD("contrast", o->contrast > 0,
        mst_dataset_random_contrast(t->train, 0, 1 - o->contrast, 1 + o->contrast, o->seed, &made));
    return EXIT_DONE;
}
