#include "cli/train/training.h"

#include "cli/model/network_texts.h"
#include "cli/model/scale_inputs.h"
#include "muster/dataset.h"

bool training_has_texts(const training *t) {
    return t->o->text || mst_dataset_spec_has_texts(t->data);
}

bool training_numbers_words(const training *t) {
    return training_has_texts(t) && !(t->network && network_takes_strings(&t->ends));
}

int training_num_inputs(const training *t) {
    return t->network ? t->ends.num_inputs : 1;
}

bool training_knows_pixels(const training *t) {
    return t->known_pixels.name && t->stored_inputs[0] == MST_U8;
}

int training_pixels(const training *t) {
    if (training_knows_pixels(t)) return t->known_pixels.pixels;
    return t->o->raw_pixels ? PIXELS_RAW : t->o->pixels;
}
