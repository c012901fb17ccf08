/* What tokens_test.py asks of Muster: the vocabulary of the texts at a path, as lists of bytes, then the numbers of
 * each text, a JSON line each:
 *
 *      parity_tokens PATH STANDARDIZE SPLIT MAX_TOKENS LENGTH PAD_FRONT TRUNCATE_FRONT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/dataset.h"

enum { BATCH = 64 };

static mst_status print_rows(mst_dataset *dataset) {
    mst_iterator *it;
    const mst_batch *batch;
    const int64_t length = mst_dataset_spec(dataset, 0).shape.dim[1];
    MST_TRY(mst_iterator_create(dataset, 0, &it));
    mst_status status = MST_OK;
    while (!status && !(status = mst_iterator_next(it, &batch)) && batch) {
        mst_tensor *numbers;
        status = mst_batch_tensor(batch, 0, &numbers);
        for (int64_t i = 0; !status && i < mst_tensor_count(numbers); i++)
            printf("%s%d%s", i % length ? ", " : "[", ((const int32_t *)mst_tensor_data(numbers))[i],
                   (i + 1) % length ? "" : "]\n");
        if (!status) mst_tensor_release(numbers);
    }
    mst_iterator_destroy(it);
    return status;
}

static mst_status print(mst_dataset *numbers) {
    const char *name;
    printf("[");
    for (int64_t i = 0; (name = mst_dataset_class_name(numbers, 0, i)); i++) {
        printf("%s[", i ? ", " : "");
        for (const char *c = name; *c; c++) printf("%s%d", c > name ? ", " : "", (unsigned char)*c);
        printf("]");
    }
    printf("]\n");
    mst_dataset *batches;
    MST_TRY(mst_dataset_batch(numbers, BATCH, false, &batches));
    const mst_status status = print_rows(batches);
    mst_dataset_release(batches);
    return status;
}

static mst_status run(char **argv) {
    const mst_text_options options = {.standardize = (mst_text_standardize)atoi(argv[2]),
                                      .split = (mst_text_split)atoi(argv[3]),
                                      .max_tokens = atoi(argv[4]),
                                      .sequence_length = atoi(argv[5]),
                                      .pad_front = atoi(argv[6]),
                                      .truncate_front = atoi(argv[7])};
    mst_dataset *texts, *numbers;
    MST_TRY(mst_dataset_from_texts(argv[1], NULL, &texts));
    mst_status status = mst_dataset_vectorize_text(texts, &options, &numbers);
    mst_dataset_release(texts);
    MST_TRY(status);
    status = print(numbers);
    mst_dataset_release(numbers);
    return status;
}

int main(int argc, char **argv) {
    if (argc == 8 && run(argv) == MST_OK) return 0;
    fprintf(stderr, "%s\n", argc == 8 ? mst_error()->message : "usage: parity_tokens PATH STANDARDIZE ...");
    return 1;
}
