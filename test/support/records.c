#include "support/records.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/folder.h"
#include "support/test.h"

enum { IMAGE = 20 };

static void write_one(mst_tfrecord_writer *writer, int64_t id) {
    uint8_t image[IMAGE];
    const int64_t list[4] = {id, id, id, id};
    for (int j = 0; j < IMAGE; j++) image[j] = (uint8_t)((id + j) % 251);
    const mst_feature_data features[] = {
        {"id", MST_I64, &id, 1}, {"image", MST_U8, image, IMAGE}, {"list", MST_I64, list, id % 5}};
    const size_t size = mst_example_size(features, 3);
    void *data = malloc(size);
    mst_example_encode(features, 3, data);
    EXPECT_OK(mst_tfrecord_writer_add(writer, data, size));
    free(data);
}

void records_write(int num_files, const int64_t *count, mst_tfrecord_compression compression) {
    int64_t id = 0;
    for (int i = 0; i < num_files; i++) {
        char name[16];
        mst_tfrecord_writer *writer;
        snprintf(name, sizeof name, "a-%02d", i);
        EXPECT_OK(mst_tfrecord_writer_open(folder_path(name), compression, &writer));
        for (int64_t n = 0; n < count[i]; n++) write_one(writer, id++);
        EXPECT_OK(mst_tfrecord_writer_commit(writer));
        mst_tfrecord_writer_close(writer);
    }
}

mst_dataset *records_open(const mst_tfrecord_options *options, bool parse) {
    const mst_feature features[] = {{.name = "id", .dtype = MST_I64},
                                    {.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(IMAGE)}};
    const char *pattern = folder_path("a-*");
    mst_dataset *records, *rows;
    EXPECT_OK(mst_dataset_from_tfrecord(&pattern, 1, options, &records));
    if (!parse) return records;
    EXPECT_OK(mst_dataset_parse_example(records, features, 2, &rows));
    mst_dataset_release(records);
    return rows;
}

int64_t records_ids(mst_iterator *it, int64_t stop, int64_t *ids, int64_t max) {
    int64_t count = 0;
    const mst_batch *batch;
    for (int64_t n = 0; n < stop; n++) {
        if (mst_iterator_next(it, &batch)) return -1;
        if (!batch) break;
        const int64_t size = mst_batch_size(batch);
        uint8_t *images = malloc((size_t)size * IMAGE);
        if (count + size > max || mst_batch_copy_all(batch, 0, size, (void *[]){ids + count, images})) count = -1;
        for (int64_t i = 0; count >= 0 && i < size * IMAGE; i++)
            if (images[i] != (ids[count + i / IMAGE] + i % IMAGE) % 251) count = -1;
        free(images);
        if (count < 0) return -1;
        count += size;
    }
    return count;
}
