/* MobileNetV2 learns photos from scratch: a folder for each class, as of cats and of dogs. They are resized to 224 x
 * 224, and a fifth of them is kept for validation. The strategy is mirrored, over the devices that are named. With
 * TF_CONFIG in the environment it is that over all workers, and the program is the same.
 *
 *     photos DIR [--devices LIST] [--batch N] [--epochs N] [--size N] [--alpha X]
 *
 *   --devices LIST  such as gpu, gpu:2, gpu:1x2, tpu:8 or cpu:2 (default cpu)
 *   --batch N       photos for each replica in a step (default 64); there is one replica for each device
 *   --epochs N      default 5
 *   --size N        of the photos, a multiple of 32 (default 224)
 *   --alpha X       factor of the numbers of channels (default 1) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/muster.h"

/* The options, and this process in its cluster; NULL: it is alone. */
typedef struct flags {
    const char *folder, *devices;
    int64_t batch, epochs, size;
    double alpha;
    mst_task *task;
} flags;

static mst_status fit(const flags *f, mst_model *model, mst_dataset *training, mst_dataset *validation) {
    const bool prints = !f->task || mst_task_is_chief(f->task);
    mst_mobilenet_v2(model, .input_shape = MST_SHAPE(f->size, f->size, 3), .alpha = f->alpha,
                     .classes = mst_dataset_num_classes(training, 1));
    MST_TRY(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.001),
                        .metric = {MST_METRIC_SPARSE_CATEGORICAL_ACCURACY},
                        .strategy = {.kind = f->task ? MST_STRATEGY_MULTI_WORKER : MST_STRATEGY_MIRRORED},
                        .session = {.devices = f->devices}, .task = f->task));
    const int replicas = mst_model_num_replicas(model);
    if (prints) printf("Number of devices: %d\n", replicas);
    MST_TRY(mst_fit(model, .data = training, .validation = validation, .batch_size = f->batch * replicas,
                    .epochs = f->epochs, .progress = prints ? stdout : NULL));
    return f->task ? mst_task_leave(f->task) : MST_OK; /* waits until the others have come here too */
}

static mst_status train(const flags *f) {
    mst_dataset *photos = mst_data_from_images(f->folder, &(mst_images_options){.height = f->size, .width = f->size}),
                *validation;
    mst_dataset *training =
        mst_data_split(photos, &(mst_split_options){.fraction = 0.2, .seed = 1, .labels = 1}, &validation);
    training = mst_data_scale(training, 0, MST_F32, 1.0 / 255);
    validation = mst_data_scale(validation, 0, MST_F32, 1.0 / 255);
    mst_model *model = NULL;
    mst_status status = mst_dataset_check(training);
    if (!status) status = mst_model_create(&model);
    if (!status) status = fit(f, model, training, validation);
    mst_model_destroy(model); /* before the task that it uses */
    mst_dataset_release(validation);
    mst_dataset_release(training);
    return status;
}

static mst_status run(flags *f) {
    mst_cluster *cluster;
    MST_TRY(mst_cluster_from_environment(NULL, &cluster));
    mst_status status = MST_OK;
    if (mst_cluster_num_workers(cluster) > 1) status = mst_task_open(&f->task, .cluster = cluster, .log = stderr);
    if (!status) status = train(f);
    mst_task_close(f->task);
    mst_cluster_release(cluster);
    return status;
}

static bool read_flags(int argc, char **argv, flags *f) {
    if (argc % 2) return false;
    f->folder = argv[1];
    for (int i = 2; i < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--devices") == 0)
            f->devices = value;
        else if (strcmp(argv[i], "--batch") == 0)
            f->batch = atoll(value);
        else if (strcmp(argv[i], "--epochs") == 0)
            f->epochs = atoll(value);
        else if (strcmp(argv[i], "--size") == 0)
            f->size = atoll(value);
        else if (strcmp(argv[i], "--alpha") == 0)
            f->alpha = atof(value);
        else
            return false;
    }
    return f->batch > 0 && f->epochs > 0 && f->size > 0;
}

int main(int argc, char **argv) {
    flags f = {.devices = "cpu", .batch = 64, .epochs = 5, .size = 224, .alpha = 1};
    if (!read_flags(argc, argv, &f)) {
        fprintf(stderr, "usage: photos DIR [--devices LIST] [--batch N] [--epochs N] [--size N] [--alpha X]\n");
        return 2;
    }
    if (!run(&f)) return 0;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    return 1;
}
