/** muster predict: needs a saved model; and what `muster train --predict FILE` writes. */
#include "cli/predict.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

enum { PATH_SIZE = 4096 };

static mst_status temporary_path(const char *path, char out[PATH_SIZE]) {
    int size = snprintf(out, PATH_SIZE, "%s.tmp-%ld", path, (long)getpid());
    if (size < 0 || size >= PATH_SIZE) return MST_FAIL(MST_INVALID, "'%.80s...': the path is too long", path);
    return MST_OK;
}

static mst_status write_fail(const char *path) {
    return MST_FAIL(MST_IO, "'%s' cannot be written: %s", path, strerror(errno));
}

mst_status predict_check_path(const char *path) {
    char temporary[PATH_SIZE];
    struct stat info;
    MST_TRY(temporary_path(path, temporary));
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return MST_FAIL(MST_INVALID, "'%s' is no regular file: name another", path);
    FILE *file = fopen(temporary, "wx");
    if (!file) return write_fail(path);
    fclose(file);
    remove(temporary);
    return MST_OK;
}

/* each row to exp(x - max) / sum, as the loss does it */
static void softmax_rows(mst_tensor *logits) {
    mst_shape shape = mst_tensor_shape(logits);
    int64_t classes = shape.dim[shape.ndim - 1], count = mst_tensor_count(logits);
    for (int64_t begin = 0; begin < count; begin += classes) {
        double largest = -INFINITY, sum = 0;
        for (int64_t i = 0; i < classes; i++) largest = fmax(largest, mst_tensor_get(logits, begin + i));
        for (int64_t i = 0; i < classes; i++) sum += exp(mst_tensor_get(logits, begin + i) - largest);
        for (int64_t i = 0; i < classes; i++)
            mst_tensor_set(logits, begin + i, exp(mst_tensor_get(logits, begin + i) - largest) / sum);
    }
}

/* The elements of the header and its length are little-endian, as the machine is; the header ends at a multiple of 64
 * bytes, with a line end. Source: numpy/lib/format.py. */
static bool write_npy(FILE *file, const mst_tensor *tensor) {
    char text[256];
    mst_shape shape = mst_tensor_shape(tensor);
    int used = snprintf(text, sizeof text, "{'descr': '<f%zu', 'fortran_order': False, 'shape': (",
                        mst_dtype_size(mst_tensor_dtype(tensor)));
    for (int i = 0; i < shape.ndim; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%" PRId64 ",%s", shape.dim[i],
                         i + 1 < shape.ndim ? " " : "");
    used += snprintf(text + used, sizeof text - (size_t)used, "), }");
    enum { BEFORE_TEXT = 10, ALIGNMENT = 64 };
    while ((BEFORE_TEXT + used + 1) % ALIGNMENT) text[used++] = ' ';
    text[used++] = '\n';
    const unsigned char prefix[BEFORE_TEXT] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(used & 255), (unsigned char)(used >> 8)};
    return fwrite(prefix, sizeof prefix, 1, file) == 1 && fwrite(text, (size_t)used, 1, file) == 1 &&
           fwrite(mst_tensor_data(tensor), mst_tensor_bytes(tensor), 1, file) == 1;
}

static mst_status write_file(const mst_tensor *tensor, const char *path) {
    char temporary[PATH_SIZE];
    MST_TRY(temporary_path(path, temporary));
    FILE *file = fopen(temporary, "wx");
    if (!file) return write_fail(path);
    bool right = write_npy(file, tensor) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    mst_status status = right ? MST_OK : write_fail(path);
    if (fclose(file) && !status) status = write_fail(path);
    if (!status && rename(temporary, path)) status = write_fail(path);
    if (status) remove(temporary);
    return status;
}

mst_status predict_to_file(mst_model *model, const mst_dataset *data, int64_t batch_size, const char *path) {
    mst_tensor *outputs = NULL;
    MST_TRY(mst_predict(model, data, batch_size, &outputs));
    softmax_rows(outputs);
    mst_status status = write_file(outputs, path);
    mst_tensor_release(outputs);
    return status;
}

static const option_section sections[] = {{0}};

const command command_predict = {
    .name = "predict",
    .summary = "outputs of a saved model (until models are saved: train --predict FILE)",
    .usage = "",
    .sections = sections,
    .unavailable = "models are not saved yet: use 'muster train --predict FILE', which trains and predicts in one go",
};
