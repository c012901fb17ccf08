/* The checks that a task makes without the others. */
#include "cli/doctor/doctor_checks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/byte_count.h"
#include "base/file.h"
#include "cli/model/network_file.h"
#include "cli/model/network_objectives.h"
#include "cli/number_text.h"
#include "data/row_hash.h"
#include "model_file/model_file.h"
#include "muster/compile_cache.h"
#include "muster/dataset.h"
#include "muster/device.h"

const char *doctor_task_name(const mst_cluster *cluster, int task, char text[DOCTOR_NAME]) {
    const mst_task_info info = mst_cluster_task(cluster, task);
    snprintf(text, DOCTOR_NAME, "%.48s:%d", info.job, (int)info.index);
    return text;
}

/* ---- names ---- */

/* Whether all addresses have the same host, so that all tasks seem to be on one machine. */
static bool has_one_host(const mst_cluster *cluster) {
    const char *first = mst_cluster_task(cluster, 0).address;
    const size_t length = (size_t)(strrchr(first, ':') - first);
    for (int i = 1; i < mst_cluster_num_training_tasks(cluster); i++) {
        const char *address = mst_cluster_task(cluster, i).address;
        if ((size_t)(strrchr(address, ':') - address) != length || strncmp(address, first, length) != 0) return false;
    }
    return true;
}

void doctor_check_names(doctor_report *report, const mst_cluster *cluster, const char *self) {
    static const double SECONDS = 5;
    const int n = mst_cluster_num_training_tasks(cluster), before = report->findings;
    const bool one_host = mst_cluster_is_local(cluster) || has_one_host(cluster);
    mst_checkup_name *found = calloc((size_t)n, sizeof *found);
    char name[DOCTOR_NAME];
    if (!found || mst_checkup_resolve(cluster, SECONDS, found)) {
        doctor_add(report, DOCTOR_FINDING, "names", self, NULL, "%s", found ? mst_error()->message : "out of memory");
        free(found);
        return;
    }
    for (int i = 0; i < n; i++) {
        const char *address = mst_cluster_task(cluster, i).address;
        doctor_task_name(cluster, i, name);
        if (!*found[i].numeric)
            doctor_add(report, DOCTOR_FINDING, "names", self,
                       "correct the name, or add it to the DNS or to /etc/hosts of this machine",
                       "%s at %s: its host is not known on this machine", name, address);
        else if (found[i].is_loopback && !one_host)
            doctor_add(report, DOCTOR_FINDING, "names", self,
                       "take the name out of the lines of 127.0.0.1 and 127.0.1.1 in /etc/hosts, or give addresses in "
                       "numbers",
                       "%s at %s is %s on this machine, where other machines cannot reach it", name, address,
                       found[i].numeric);
    }
    if (report->findings == before)
        doctor_add(report, DOCTOR_OK, "names", self, NULL, "all %d are known; this task's is %s", n,
                   found[mst_cluster_self(cluster)].numeric);
    free(found);
}

/* ---- the machine ---- */

void doctor_check_machine(doctor_report *report, const char *self) {
    mst_machine m;
    char memory[MST_BYTES_TEXT];
    mst_machine_read(&m);
    doctor_add(report, DOCTOR_OK, "devices", self, NULL, "%d of %d cores may be used, %s memory, %s kernels",
               m.num_cores, m.num_all_cores, mst_bytes_print(m.memory, memory, sizeof memory), m.isa);
}

/* ---- the folder of checkpoints ---- */

/* The longest leading part of PATH that exists; to be freed. The missing folders are made when training begins. */
static char *find_existing(const char *path) {
    struct stat info;
    char *there = strdup(path);
    while (there && stat(there, &info) && errno == ENOENT) {
        char *slash = strrchr(there, '/');
        if (!slash) {
            free(there);
            return strdup(".");
        }
        slash[slash == there] = '\0'; /* the folder of "/x" is "/" */
    }
    return there;
}

/* Writes some bytes to a file in FOLDER, then removes the file. */
static mst_status try_to_write(const char *folder) {
    enum { BYTES = 1 << 16 };
    static const char bytes[BYTES];
    char path[4200];
    mst_file file;
    snprintf(path, sizeof path, "%s/muster-doctor", folder);
    MST_TRY(mst_file_create(path, &file));
    const mst_status status = mst_file_append(&file, bytes, sizeof bytes);
    mst_file_abandon(&file);
    return status;
}

void doctor_check_folder(doctor_report *report, const char *path, const char *self) {
    struct statvfs disk;
    char free_bytes[MST_BYTES_TEXT] = "an unknown number of bytes";
    char *there = find_existing(path);
    if (!there || try_to_write(there)) {
        doctor_add(report, DOCTOR_FINDING, "checkpoints", self,
                   "give --checkpoint-dir a folder in which this user may write, on a disk that is not full", "%s: %s",
                   path, there ? mst_error()->message : "out of memory");
    } else {
        const bool made = strcmp(there, path) != 0;
        if (!statvfs(there, &disk))
            mst_bytes_print((int64_t)(disk.f_bavail * disk.f_frsize), free_bytes, sizeof free_bytes);
        doctor_add(report, DOCTOR_OK, "checkpoints", self, NULL, "%s %s, %s free", path,
                   made ? "will be made, and can be written" : "can be written", free_bytes);
    }
    free(there);
}

/* ---- compiled programs ---- */

void doctor_check_programs(doctor_report *report, const doctor_options *options, const char *self) {
    static const char fix[] = "name another folder with --compile-cache, here and in training";
    mst_compile_cache_info info;
    char bytes[MST_BYTES_TEXT], limit[MST_BYTES_TEXT], count[NUMBER_TEXT];
    if (mst_compile_cache_set(options->compile_cache, 0, NULL) || mst_compile_cache_describe(&info))
        doctor_add(report, DOCTOR_FINDING, "programs", self, fix, "%s", mst_error()->message);
    else if (!*info.folder)
        doctor_add(report, DOCTOR_NOTE, "programs", self, NULL, "none are kept: each process compiles anew");
    else if (!info.is_made)
        doctor_add(report, DOCTOR_OK, "programs", self, NULL, "%.400s will be made", info.folder);
    else
        doctor_add(report, DOCTOR_OK, "programs", self, NULL,
                   "%.400s is this user's alone: %s compiled programs, %s of at most %s", info.folder,
                   number_text(info.num_programs, count), mst_bytes_print(info.bytes, bytes, sizeof bytes),
                   mst_bytes_print(info.limit, limit, sizeof limit));
}

/* ---- data ---- */

static void print_shapes(const mst_dataset *dataset, char *text, size_t size) {
    size_t used = 0;
    for (int c = 0; c < mst_dataset_num_components(dataset) && used < size; c++) {
        const mst_spec spec = mst_dataset_spec(dataset, c);
        used += (size_t)snprintf(text + used, size - used, "%s%s [", c ? ", " : "", mst_dtype_name(spec.dtype));
        for (int d = 0; d < spec.shape.ndim && used < size; d++)
            used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, d ? ", " : "", spec.shape.dim[d]);
        if (used < size) used += (size_t)snprintf(text + used, size - used, "]");
    }
}

/* A network file that cannot be read is no error here: doctor_check_model reports it. */
static mst_status open_data(const doctor_options *o, mst_dataset **out) {
    const char *inputs[MAX_ENDS], *outputs[MAX_ENDS];
    mst_data_options options = {.image_size = 0};
    network_ends ends;
    mst_model *network = NULL;
    if (network_file_is(o->model) && !mst_network_load(o->model, &network, NULL) &&
        !network_ends_of(o->model, network, &ends))
        network_data_options(&ends, inputs, outputs, &options);
    const mst_status status = mst_dataset_open_with(o->data, "train", &options, out);
    mst_model_destroy(network);
    return status;
}

void doctor_check_data(doctor_report *report, const doctor_options *options, const char *self, char *data,
                       size_t size) {
    const char *spec = options->data;
    mst_dataset *dataset = NULL;
    uint64_t hash = 0;
    int hashed = 0;
    char shapes[256], rows[NUMBER_TEXT];
    mst_status status = open_data(options, &dataset);
    if (!status) status = mst_dataset_hash_rows(dataset, &hash, &hashed);
    *data = '\0';
    if (status) {
        doctor_add(report, DOCTOR_FINDING, "data", self, "every task that trains must see the data of --data", "%s",
                   mst_error()->message);
    } else {
        const int64_t count = mst_dataset_num_rows(dataset);
        print_shapes(dataset, shapes, sizeof shapes);
        snprintf(data, size, "%s%s rows of %s; the first %d have hash %016" PRIx64, count < 0 ? "?" : "",
                 count < 0 ? "" : number_text(count, rows), shapes, hashed, hash);
        doctor_add(report, DOCTOR_OK, "data", self, NULL, "%s: %s", spec, data);
    }
    mst_dataset_release(dataset);
}
