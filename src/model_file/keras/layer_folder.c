#include "model_file/keras/layer_folder.h"

#include <ctype.h>
#include <stdio.h>

/* Converts MaxPooling1D to max_pooling1d. An underscore is put before a capital letter that comes before or after a
 * small letter. */
static void snake_case(const char *class_name, char *out, size_t size) {
    size_t used = 0;
    for (size_t i = 0; class_name[i] && used + 3 < size; i++) {
        const unsigned char c = (unsigned char)class_name[i], next = (unsigned char)class_name[i + 1];
        const unsigned char last = i ? (unsigned char)class_name[i - 1] : 0;
        if (last && isupper(c) && (islower(next) || islower(last))) out[used++] = '_';
        out[used++] = (char)tolower(c);
    }
    out[used] = '\0';
}

/* The first layer of a class gets no number. */
void mst_keras_layer_folder(const char *parent, const char *class_name, int64_t before, char out[MST_KERAS_FOLDER]) {
    char name[200];
    snake_case(class_name, name, sizeof name);
    if (before)
        snprintf(out, MST_KERAS_FOLDER, "%s/layers/%s_%lld", parent, name, (long long)before);
    else
        snprintf(out, MST_KERAS_FOLDER, "%s/layers/%s", parent, name);
}
