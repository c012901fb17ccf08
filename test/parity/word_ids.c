/* What word_ids_test.py asks of Muster: the texts of an archive, a line of JSON each, [label, [number, ...]]:
 *
 *      parity_word_ids PATH TEST NUM_WORDS SKIP_TOP MAX_LENGTH TEST_SPLIT SEED
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "muster/dataset.h"

static mst_status print_text(const mst_batch *batch) {
    mst_tensor *numbers;
    int64_t label;
    MST_TRY(mst_batch_copy(batch, 1, 0, 1, &label));
    MST_TRY(mst_batch_tensor(batch, 0, &numbers));
    printf("[%" PRId64 ", [", label);
    for (int64_t i = 0; i < mst_tensor_count(numbers); i++)
        printf("%s%d", i ? ", " : "", ((const int32_t *)mst_tensor_data(numbers))[i]);
    printf("]]\n");
    mst_tensor_release(numbers);
    return MST_OK;
}

static mst_status run(char **argv) {
    const mst_word_ids_options options = {.test = atoi(argv[2]),
                                          .num_words = atoi(argv[3]),
                                          .skip_top = atoi(argv[4]),
                                          .max_length = atoi(argv[5]),
                                          .test_split = atof(argv[6]),
                                          .seed = atoll(argv[7])};
    mst_dataset *texts;
    mst_iterator *it = NULL;
    const mst_batch *batch;
    MST_TRY(mst_dataset_from_word_ids(argv[1], &options, &texts));
    mst_status status = mst_iterator_create(texts, 0, &it);
    while (!status && !(status = mst_iterator_next(it, &batch)) && batch) status = print_text(batch);
    mst_iterator_destroy(it);
    mst_dataset_release(texts);
    return status;
}

int main(int argc, char **argv) {
    if (argc == 8 && run(argv) == MST_OK) return 0;
    fprintf(stderr, "%s\n", argc == 8 ? mst_error()->message : "usage: parity_word_ids PATH TEST NUM_WORDS ...");
    return 1;
}
