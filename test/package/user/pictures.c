/* Reads the first picture of a folder of classes, which takes the codec of its format. Usage: pictures FOLDER */
#include <muster/muster.h>
#include <stdio.h>

int main(int argc, char **argv) {
    mst_iterator *iterator;
    const mst_batch *batch;
    if (argc != 2) return puts("usage: pictures FOLDER"), 2;
    mst_dataset *pictures = mst_data_from_images(argv[1], &(mst_images_options){.height = 8, .width = 8});
    if (mst_iterator_create(pictures, 0, &iterator) || mst_iterator_next(iterator, &batch))
        return puts(mst_error()->message), 1;
    printf("%s\n", mst_dataset_class_name(pictures, 1, 0));
    mst_iterator_destroy(iterator);
    mst_dataset_release(pictures);
    return 0;
}
