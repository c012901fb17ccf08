/* What images_test.py asks of Muster:
 *
 *      parity_images FOLDER HEIGHT WIDTH CHANNELS METHOD WHOLE
 *
 *  writes the pictures of the class folders in FOLDER, one after the other, f32 (HEIGHT, WIDTH, CHANNELS), to standard
 *  output. METHOD is the number of an mst_resize_method; WHOLE is 1 where JPEG files are decoded at their own size. */
#include <stdio.h>
#include <stdlib.h>

#include "muster/dataset.h"

static mst_status write_rows(mst_dataset *dataset) {
    mst_iterator *it;
    const mst_batch *batch;
    MST_TRY(mst_iterator_create(dataset, 0, &it));
    mst_status status = MST_OK;
    while (!(status = mst_iterator_next(it, &batch)) && batch) {
        mst_tensor *tensor;
        if ((status = mst_batch_tensor(batch, 0, &tensor))) break;
        fwrite(mst_tensor_data(tensor), sizeof(float), (size_t)mst_tensor_count(tensor), stdout);
        mst_tensor_release(tensor);
    }
    mst_iterator_destroy(it);
    return status;
}

int main(int argc, char **argv) {
    mst_dataset *dataset;
    if (argc != 7) return 2;
    const mst_images_options options = {.height = atoi(argv[2]),
                                        .width = atoi(argv[3]),
                                        .channels = atoi(argv[4]),
                                        .resize = (mst_resize_method)atoi(argv[5]),
                                        .whole = atoi(argv[6]) != 0,
                                        .dtype = MST_F32};
    mst_status status = mst_dataset_from_images(argv[1], &options, &dataset);
    if (!status) status = write_rows(dataset);
    mst_dataset_release(dataset);
    if (status) fprintf(stderr, "%s\n", mst_error()->message);
    return status ? 1 : 0;
}
