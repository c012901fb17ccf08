/* The module `hdf5`: HDF5 files by the HDF Group's library. The library has one state for the whole process, so a lock
 * admits one thread at a time. The library reads and makes files in memory only. */
#include "format/hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module/module.h"

enum {
    MOST_DEPTH = 40,
    MOST_OBJECTS = 1000000,
    MOST_TEXTS = 1000000,
    INCREMENT = 1 << 20, /* bytes by which a file in memory grows */
    PATH_SIZE = 1024,
    MOST_RATIO = 1100 /* bytes of a compressed array per stored byte, at most: deflate reaches 1032 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- reading ---- */

/* The message of the last failure in the child process, which reads the file (see below). */
static char hdf5_message[600];

static mst_status __attribute__((format(printf, 2, 3))) hdf5_fail(mst_status code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(hdf5_message, sizeof hdf5_message, format, list);
    va_end(list);
    return code;
}

typedef struct reading {
    const char *name;
    size_t size; /* size of the file */
    const mst_hdf5_visitor *visitor;
    char path[PATH_SIZE];
    int depth;
    int64_t num_objects;
    mst_status status; /* the first failure */
} reading;

static mst_status hdf5_damaged(const reading *r, const char *what) {
    return hdf5_fail(MST_CORRUPT, "'%s': %s '%s' cannot be read: the file is damaged", r->name, what, r->path);
}

/* The dtype in which elements of TYPE are read, with HDF5's type for it in *MEMORY; MST_NO_DTYPE if they are not
 * numbers. */
static mst_dtype dtype_of(hid_t type, hid_t *memory) {
    const size_t size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
        case H5T_FLOAT: *memory = size > 4 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT; return size > 4 ? MST_F64 : MST_F32;
        case H5T_INTEGER: *memory = H5T_NATIVE_INT64; return MST_I64;
        default: return MST_NO_DTYPE;
    }
}

/* Refuses data that is in another file, and shapes for which the file has too few bytes. */
static mst_status check_stored(const reading *r, hid_t array, hid_t type, hsize_t count) {
    const hid_t list = H5Dget_create_plist(array);
    const H5D_layout_t layout = list < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(list);
    const int external = list < 0 ? -1 : H5Pget_external_count(list);
    if (list >= 0) H5Pclose(list);
    const hsize_t element = H5Tget_size(type), stored = H5Dget_storage_size(array);
    if (external > 0 || layout == H5D_VIRTUAL)
        return hdf5_fail(MST_UNIMPLEMENTED, "'%s': '%s' is kept in another file, which is not read", r->name, r->path);
    if (layout == H5D_LAYOUT_ERROR || external < 0 || element < 1 || element > 16 || stored > r->size)
        return hdf5_damaged(r, "array");
    const hsize_t most = layout == H5D_CHUNKED ? stored * MOST_RATIO : stored;
    return count > most / element ? hdf5_damaged(r, "array") : MST_OK;
}

static mst_status read_shape(const reading *r, hid_t space, mst_shape *shape, hsize_t *count) {
    hsize_t dim[H5S_MAX_RANK];
    const int ndim = H5Sget_simple_extent_ndims(space);
    if (ndim < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) return hdf5_damaged(r, "array");
    if (ndim > MST_MAX_NDIM)
        return hdf5_fail(MST_UNIMPLEMENTED, "'%s': '%s' has %d dimensions, more than %d", r->name, r->path, ndim,
                         MST_MAX_NDIM);
    if (H5Sget_simple_extent_dims(space, dim, NULL) < 0) return hdf5_damaged(r, "array");
    *shape = (mst_shape){.ndim = ndim};
    *count = 1;
    for (int i = 0; i < ndim; i++) {
        if (dim[i] > (hsize_t)1 << 40 || (dim[i] && *count > ((hsize_t)1 << 48) / dim[i]))
            return hdf5_damaged(r, "array");
        shape->dim[i] = (int64_t)dim[i];
        *count *= dim[i];
    }
    return MST_OK;
}

static mst_status read_elements(const reading *r, hid_t array, hid_t type, hid_t space) {
    mst_hdf5_array a = {.path = r->path};
    hid_t memory = -1;
    hsize_t count = 0;
    void *data = NULL;
    a.dtype = dtype_of(type, &memory);
    if (a.dtype == MST_NO_DTYPE) return MST_OK; /* such as strings: a reader that needs it reports it as missing */
    MST_TRY(read_shape(r, space, &a.shape, &count));
    MST_TRY(check_stored(r, array, type, count));
    MST_TRY(r->visitor->array(r->visitor->context, &a, &data));
    if (count == 0) return MST_OK;
    return H5Dread(array, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0 ? hdf5_damaged(r, "array") : MST_OK;
}

static mst_status read_array(const reading *r, hid_t array) {
    const hid_t type = H5Dget_type(array), space = H5Dget_space(array);
    const mst_status status = type < 0 || space < 0 ? hdf5_damaged(r, "array") : read_elements(r, array, type, space);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return status;
}

static mst_status give_texts(const reading *r, const char *name, char **text, int64_t count, bool list) {
    const mst_hdf5_text t = {
        .path = r->path, .name = name, .text = (const char *const *)text, .count = count, .list = list};
    for (int64_t i = 0; i < count; i++)
        if (!text || !text[i]) return hdf5_damaged(r, "an attribute of");
    return r->visitor->text(r->visitor->context, &t);
}

/* Reads strings of variable length; HDF5 allocates their memory. */
static mst_status read_long_texts(const reading *r, hid_t attribute, hid_t space, const char *name, int64_t count,
                                  bool list) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    char **text = calloc((size_t)count + 1, sizeof *text);
    mst_status status = type < 0 || !text ? hdf5_damaged(r, "an attribute of") : MST_OK;
    if (!status) {
        H5Tset_size(type, H5T_VARIABLE);
        const hid_t stored = H5Aget_type(attribute);
        if (stored >= 0) {
            H5Tset_cset(type, H5Tget_cset(stored));
            H5Tclose(stored);
        }
        status = H5Aread(attribute, type, text) < 0 ? hdf5_damaged(r, "an attribute of")
                                                    : give_texts(r, name, text, count, list);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, text);
    }
    if (type >= 0) H5Tclose(type);
    free(text);
    return status;
}

/* Reads strings that are padded to one length. */
static mst_status read_fixed_texts(const reading *r, hid_t attribute, hid_t type, const char *name, int64_t count,
                                   bool list) {
    const size_t length = H5Tget_size(type);
    if (length < 1 || length > r->size || (uint64_t)count > r->size / length) return hdf5_damaged(r, "an attribute of");
    char *bytes = calloc((size_t)count + 1, length), *padded = calloc((size_t)count + 1, length + 1);
    char **text = calloc((size_t)count + 1, sizeof *text);
    mst_status status =
        bytes && padded && text && H5Aread(attribute, type, bytes) >= 0 ? MST_OK : hdf5_damaged(r, "an attribute of");
    for (int64_t i = 0; text && padded && bytes && i < count && !status; i++) {
        text[i] = padded + (size_t)i * (length + 1);
        memcpy(text[i], bytes + (size_t)i * length, length);
        if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
            for (size_t end = length; end > 0 && text[i][end - 1] == ' '; end--) text[i][end - 1] = '\0';
    }
    if (!status) status = give_texts(r, name, text, count, list);
    free(text);
    free(padded);
    free(bytes);
    return status;
}

static mst_status read_texts(const reading *r, hid_t attribute, const char *name) {
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    mst_status status = MST_OK;
    if (type < 0 || space < 0) {
        status = hdf5_damaged(r, "an attribute of");
    } else if (H5Tget_class(type) == H5T_STRING) {
        const int ndim = H5Sget_simple_extent_ndims(space);
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        if (ndim < 0 || count < 0 || (hsize_t)count > r->size || count > MOST_TEXTS)
            status = hdf5_damaged(r, "an attribute of");
        else if (H5Tis_variable_str(type) > 0)
            status = read_long_texts(r, attribute, space, name, count, ndim > 0);
        else
            status = read_fixed_texts(r, attribute, type, name, count, ndim > 0);
    }
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return status;
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context) {
    reading *r = context;
    (void)info;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    r->status = attribute < 0 ? hdf5_damaged(r, "an attribute of") : read_texts(r, attribute, name);
    if (attribute >= 0) H5Aclose(attribute);
    return r->status ? -1 : 0;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context);

static mst_status read_object(reading *r, hid_t object) {
    hsize_t index = 0;
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &index, visit_attribute, r) < 0)
        return r->status ? r->status : hdf5_damaged(r, "attributes of");
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_DATASET) return read_array(r, object);
    if (kind != H5I_GROUP) return MST_OK;
    index = 0;
    if (H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, &index, visit_link, r) < 0)
        return r->status ? r->status : hdf5_damaged(r, "group");
    return MST_OK;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    reading *r = context;
    const size_t length = strlen(r->path), more = strlen(name);
    if (info->type != H5L_TYPE_HARD) {
        r->status = hdf5_fail(MST_UNIMPLEMENTED,
                              "'%s': '%.200s' in '%s' is a link that may lead out of the file: it is not "
                              "followed",
                              r->name, name, r->path);
        return -1;
    }
    if (r->depth >= MOST_DEPTH || r->num_objects >= MOST_OBJECTS || length + more + 2 > sizeof r->path) {
        r->status = hdf5_fail(MST_CORRUPT, "'%s': too many objects in one another at '%.200s'", r->name, r->path);
        return -1;
    }
    snprintf(r->path + length, sizeof r->path - length, length > 1 ? "/%s" : "%s", name);
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    r->depth++;
    r->num_objects++;
    r->status = object < 0 ? hdf5_damaged(r, "object") : read_object(r, object);
    r->depth--;
    if (object >= 0) H5Oclose(object);
    r->path[length] = '\0';
    return r->status ? -1 : 0;
}

/* HDF5 would copy the bytes of a file in memory twice: for the property list, and for the file. It calls these
 * functions instead of malloc and memcpy. They give it the original bytes, which it only reads. */
static void *image_given(size_t size, H5FD_file_image_op_t use, void *image) {
    (void)size, (void)use;
    return image;
}

static void *image_copied(void *dst, const void *src, size_t size, H5FD_file_image_op_t use, void *image) {
    (void)src, (void)size, (void)use, (void)image;
    return dst;
}

static void *image_grown(void *old, size_t size, H5FD_file_image_op_t use, void *image) {
    (void)old, (void)size, (void)use, (void)image;
    return NULL;
}

static herr_t image_left(void *old, H5FD_file_image_op_t use, void *image) {
    (void)old, (void)use, (void)image;
    return 0;
}

static void *image_shared(void *image) {
    return image;
}

static herr_t image_done(void *image) {
    (void)image;
    return 0;
}

static bool set_image(hid_t list, void *image, size_t size) {
    H5FD_file_image_callbacks_t functions = {image_given,  image_copied, image_grown, image_left,
                                             image_shared, image_done,   image};
    return H5Pset_file_image_callbacks(list, &functions) >= 0 && H5Pset_file_image(list, image, size) >= 0;
}

/* The property list of a file in memory. IMAGE: the SIZE bytes of a file to read, which the caller still owns; NULL: a
 * new file. */
static hid_t in_memory(void *image, size_t size) {
    const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list < 0) return list;
    if (H5Pset_fapl_core(list, INCREMENT, false) >= 0 && (!image || set_image(list, image, size))) return list;
    H5Pclose(list);
    return -1;
}

static mst_status read_hdf5(const char *name, const void *data, size_t size, const mst_hdf5_visitor *visitor) {
    static const unsigned char magic[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    reading r = {.name = name, .size = size, .visitor = visitor, .path = "/"};
    if (size < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
        return hdf5_fail(MST_CORRUPT, "'%s': is no HDF5 file", name);
    const hid_t list = in_memory((void *)(uintptr_t)data, size);
    const hid_t file = list < 0 ? -1 : H5Fopen("muster.h5", H5F_ACC_RDONLY, list);
    const hid_t root = file < 0 ? -1 : H5Gopen2(file, "/", H5P_DEFAULT);
    mst_status status = MST_OK;
    if (root < 0)
        status =
            hdf5_fail(MST_CORRUPT, "'%s': HDF5 cannot open it: it is damaged, cut off or of a later version", name);
    else
        status = read_object(&r, root);
    if (root >= 0) H5Gclose(root);
    if (file >= 0) H5Fclose(file);
    if (list >= 0) H5Pclose(list);
    return status;
}

/* ---- reading in a child process ----
 *
 * With damaged files, HDF5 (in version 1.10.8 at least) accesses memory out of bounds, and may loop forever. So a child
 * process reads the file. It sends arrays and texts through a pipe as records: a kind and a size, then so many bytes.
 * If the child crashes or is stopped, the parent returns an error. The parent checks every record. */

enum { RECORD_ARRAY = 1, RECORD_DATA, RECORD_OWNER, RECORD_LIST, RECORD_STRING, RECORD_END };
/* The child's limit of processor time in seconds, since some damage makes HDF5 loop:
 * LEAST_SECONDS + bytes of the file / BYTES_A_SECOND. */
enum { LEAST_SECONDS = 5, BYTES_A_SECOND = 10000000 };
/* The child's limit of memory in bytes, beyond what the process has: MORE_MEMORY + MEMORY_RATIO * bytes of the file. */
enum { MORE_MEMORY = 1 << 30, MEMORY_RATIO = 16 };

typedef struct record {
    uint64_t kind, size;
} record;

/* ---- the child ---- */

typedef struct child {
    int pipe;
    void *data; /* elements of the array that is being read */
    uint64_t size;
} child;

static bool send_bytes(int pipe, const void *data, uint64_t size) {
    for (const char *at = data; size > 0;) {
        const ssize_t done = write(pipe, at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done, size -= (uint64_t)done;
    }
    return true;
}

static mst_status send_record(const child *c, uint64_t kind, const void *data, uint64_t size) {
    const record head = {kind, size};
    return send_bytes(c->pipe, &head, sizeof head) && send_bytes(c->pipe, data, size) ? MST_OK : MST_IO;
}

static mst_status send_data(child *c) {
    if (!c->data) return MST_OK;
    const mst_status status = send_record(c, RECORD_DATA, c->data, c->size);
    free(c->data);
    c->data = NULL;
    return status;
}

/* The head of an array record; the path follows it. */
typedef struct array_head {
    int64_t dtype;
    mst_shape shape;
} array_head;

static mst_status send_array(void *context, const mst_hdf5_array *array, void **data) {
    child *c = context;
    const array_head head = {.dtype = array->dtype, .shape = array->shape};
    char bytes[sizeof head + PATH_SIZE];
    MST_TRY(send_data(c));
    memcpy(bytes, &head, sizeof head);
    snprintf(bytes + sizeof head, PATH_SIZE, "%s", array->path);
    c->size = array->dtype == MST_F32 ? 4 : 8;
    for (int i = 0; i < array->shape.ndim; i++) c->size *= (uint64_t)array->shape.dim[i];
    if (!(*data = c->data = malloc(c->size + 1))) return hdf5_fail(MST_OUT_OF_MEMORY, "cannot get memory for an array");
    return send_record(c, RECORD_ARRAY, bytes, sizeof head + strlen(array->path));
}

static mst_status send_text(void *context, const mst_hdf5_text *text) {
    child *c = context;
    const int64_t list[2] = {text->count, text->list};
    char owner[2 * PATH_SIZE];
    MST_TRY(send_data(c));
    snprintf(owner, sizeof owner, "%s%c%.*s", text->path, '\n', PATH_SIZE / 2, text->name);
    MST_TRY(send_record(c, RECORD_OWNER, owner, strlen(owner)));
    MST_TRY(send_record(c, RECORD_LIST, list, sizeof list));
    for (int64_t i = 0; i < text->count; i++)
        MST_TRY(send_record(c, RECORD_STRING, text->text[i], strlen(text->text[i])));
    return MST_OK;
}

/* Limits the memory of the child, since damage may also make it allocate without end. */
static void limit_memory(size_t size) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return;
    if (fscanf(file, "%llu", &pages) == 1) {
        const rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + MORE_MEMORY + (rlim_t)MEMORY_RATIO * size;
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    }
    fclose(file);
#else
    (void)size;
#endif
}

/* Resets all signal handlers inherited from the program. Signals are blocked, except those of faults, of the time limit
 * and of the pipe. So Ctrl-C, which reaches all processes of a terminal, is handled by the program only. The child ends
 * by its time limit, or when nobody reads the pipe. */
static void take_signals(void) {
    sigset_t most;
    for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
    sigfillset(&most);
    const int own[] = {SIGXCPU, SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&most, own[i]);
    pthread_sigmask(SIG_SETMASK, &most, NULL);
}

static void run_child(int pipe, const char *name, const void *data, size_t size) {
    child c = {.pipe = pipe};
    const mst_hdf5_visitor visitor = {.context = &c, .array = send_array, .text = send_text};
    const rlim_t most = LEAST_SECONDS + size / BYTES_A_SECOND;
    const struct rlimit none = {0, 0}, seconds = {most, most};
    const int nowhere = open("/dev/null", O_WRONLY);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &seconds);
    limit_memory(size);
    take_signals();
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    mst_status status = read_hdf5(name, data, size, &visitor);
    if (!status) status = send_data(&c);
    char end[sizeof status + sizeof hdf5_message];
    memcpy(end, &status, sizeof status);
    memcpy(end + sizeof status, hdf5_message, sizeof hdf5_message);
    send_record(&c, RECORD_END, end, sizeof end);
    _exit(0);
}

/* ---- the parent ---- */

typedef struct parent {
    int pipe;
    const char *name;
    uint64_t size; /* size of the file */
    const mst_hdf5_visitor *visitor;
    void *data; /* where the elements of the last array go, and their size in bytes */
    uint64_t data_size;
    char *owner; /* of the last texts: the path of the group or array, '\n', the name of the attribute */
} parent;

static mst_status child_is_gone(const parent *p) {
    return MST_FAIL(MST_CORRUPT, "'%s': HDF5 failed while it read the file: it is damaged", p->name);
}

static mst_status receive_bytes(const parent *p, void *data, uint64_t size) {
    for (char *at = data; size > 0;) {
        const ssize_t done = read(p->pipe, at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return child_is_gone(p);
        at += done, size -= (uint64_t)done;
    }
    return MST_OK;
}

/* Receives SIZE bytes and adds a zero byte. The caller frees *OUT. */
static mst_status receive_string(const parent *p, uint64_t size, char **out) {
    *out = NULL;
    if (size > p->size) return child_is_gone(p);
    if (!(*out = calloc(1, size + 1))) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory to read '%s'", p->name);
    const mst_status status = receive_bytes(p, *out, size);
    if (!status) return MST_OK;
    free(*out);
    *out = NULL;
    return status;
}

static mst_status receive_array(parent *p, uint64_t size) {
    array_head head;
    char path[PATH_SIZE] = "";
    if (size < sizeof head || size - sizeof head >= sizeof path) return child_is_gone(p);
    MST_TRY(receive_bytes(p, &head, sizeof head));
    MST_TRY(receive_bytes(p, path, size - sizeof head));
    if ((head.dtype != MST_F32 && head.dtype != MST_F64 && head.dtype != MST_I64) || head.shape.ndim < 0 ||
        head.shape.ndim > MST_MAX_NDIM)
        return child_is_gone(p);
    p->data_size = head.dtype == MST_F32 ? 4 : 8;
    for (int i = 0; i < head.shape.ndim; i++) {
        const uint64_t dim = (uint64_t)head.shape.dim[i];
        if (dim > (uint64_t)1 << 40 || (dim && p->data_size > 8 * MOST_RATIO * p->size / dim)) return child_is_gone(p);
        p->data_size *= dim;
    }
    const mst_hdf5_array array = {.path = path, .dtype = (mst_dtype)head.dtype, .shape = head.shape};
    return p->visitor->array(p->visitor->context, &array, &p->data);
}

static mst_status receive_texts(const parent *p, uint64_t size) {
    int64_t list[2];
    record head;
    char *name = p->owner ? strchr(p->owner, '\n') : NULL;
    if (size != sizeof list || !name) return child_is_gone(p);
    MST_TRY(receive_bytes(p, list, sizeof list));
    if (list[0] < 0 || list[0] > MOST_TEXTS || (uint64_t)list[0] > p->size) return child_is_gone(p);
    char **text = calloc((size_t)list[0] + 1, sizeof *text);
    mst_status status = text ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory to read '%s'", p->name);
    for (int64_t i = 0; i < list[0] && !status; i++) {
        status = receive_bytes(p, &head, sizeof head);
        if (!status) status = head.kind == RECORD_STRING ? receive_string(p, head.size, &text[i]) : child_is_gone(p);
    }
    *name = '\0';
    const mst_hdf5_text texts = {
        .path = p->owner, .name = name + 1, .text = (const char *const *)text, .count = list[0], .list = list[1] != 0};
    if (!status) status = p->visitor->text(p->visitor->context, &texts);
    for (int64_t i = 0; text && i < list[0]; i++) free(text[i]);
    free(text);
    return status;
}

static mst_status receive_end(const parent *p, uint64_t size) {
    char end[sizeof(mst_status) + sizeof hdf5_message];
    mst_status status;
    if (size != sizeof end) return child_is_gone(p);
    MST_TRY(receive_bytes(p, end, size));
    memcpy(&status, end, sizeof status);
    end[sizeof end - 1] = '\0';
    if (!status) return MST_OK;
    return end[sizeof status] ? MST_FAIL(status, "%s", end + sizeof status) : child_is_gone(p);
}

static mst_status receive_all(parent *p) {
    for (;;) {
        record head;
        MST_TRY(receive_bytes(p, &head, sizeof head));
        switch (head.kind) {
            case RECORD_END: return receive_end(p, head.size);
            case RECORD_ARRAY: MST_TRY(receive_array(p, head.size)); break;
            case RECORD_DATA:
                if (!p->data || head.size != p->data_size) return child_is_gone(p);
                MST_TRY(receive_bytes(p, p->data, head.size));
                p->data = NULL;
                break;
            case RECORD_OWNER:
                free(p->owner);
                MST_TRY(receive_string(p, head.size, &p->owner));
                break;
            case RECORD_LIST: MST_TRY(receive_texts(p, head.size)); break;
            default: return child_is_gone(p);
        }
    }
}

static mst_status read_apart(const char *name, const void *data, size_t size, const mst_hdf5_visitor *visitor) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return MST_FAIL(MST_IO, "'%s': no pipe to read it through: %s", name, strerror(errno));
    parent p = {.pipe = ends[0], .name = name, .size = size, .visitor = visitor};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* until the child has reset the inherited handlers */
    const pid_t process = fork();
    if (process == 0) run_child(ends[1], name, data, size);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    mst_status status =
        process > 0 ? receive_all(&p) : MST_FAIL(MST_IO, "'%s': no process to read it: %s", name, strerror(errno));
    if (!status && p.data) status = child_is_gone(&p);
    close(ends[0]);
    if (status && process > 0) kill(process, SIGKILL); /* its result is not needed any more */
    while (process > 0 && waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
    free(p.owner);
    return status;
}

/* ---- writing ---- */

static mst_status hdf5_failed(const char *path) {
    return MST_FAIL(MST_IO, "cannot write HDF5: '%s'", path);
}

static mst_status write_array(hid_t file, hid_t links, hid_t plain, const mst_hdf5_array *a) {
    hsize_t dim[MST_MAX_NDIM] = {0};
    const bool is_f64 = a->dtype == MST_F64, is_f32 = a->dtype == MST_F32;
    const hid_t stored = is_f32 ? H5T_IEEE_F32LE : is_f64 ? H5T_IEEE_F64LE : H5T_STD_I64LE;
    const hid_t memory = is_f32 ? H5T_NATIVE_FLOAT : is_f64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    for (int i = 0; i < a->shape.ndim; i++) dim[i] = (hsize_t)a->shape.dim[i];
    const hid_t space = a->shape.ndim ? H5Screate_simple(a->shape.ndim, dim, NULL) : H5Screate(H5S_SCALAR);
    const hid_t array = space < 0 ? -1 : H5Dcreate2(file, a->path, stored, space, links, plain, H5P_DEFAULT);
    const bool good = array >= 0 && H5Dwrite(array, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, a->data) >= 0;
    if (array >= 0) H5Dclose(array);
    if (space >= 0) H5Sclose(space);
    return good ? MST_OK : hdf5_failed(a->path);
}

static hid_t open_group(hid_t file, hid_t links, const char *path) {
    if (strcmp(path, "/") == 0 || H5Lexists(file, path, H5P_DEFAULT) > 0) return H5Oopen(file, path, H5P_DEFAULT);
    return H5Gcreate2(file, path, links, H5P_DEFAULT, H5P_DEFAULT);
}

/* Writes an attribute. A list becomes strings that are padded to one length, as h5py writes lists of bytes. A single
 * text becomes a string of variable length. */
static bool write_attribute(hid_t object, const mst_hdf5_text *t) {
    size_t longest = 1;
    for (int64_t i = 0; i < t->count; i++)
        if (strlen(t->text[i]) > longest) longest = strlen(t->text[i]);
    const hsize_t dim = (hsize_t)t->count;
    const hid_t type = H5Tcopy(H5T_C_S1);
    const hid_t space = t->list ? H5Screate_simple(1, &dim, NULL) : H5Screate(H5S_SCALAR);
    char *bytes = calloc((size_t)t->count + 1, longest);
    bool good = type >= 0 && space >= 0 && bytes;
    if (good) good = H5Tset_size(type, t->list ? longest : H5T_VARIABLE) >= 0;
    if (good) good = t->list ? H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 : H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    for (int64_t i = 0; good && i < t->count; i++) memcpy(bytes + (size_t)i * longest, t->text[i], strlen(t->text[i]));
    const hid_t attribute = good ? H5Acreate2(object, t->name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    good = attribute >= 0 && H5Awrite(attribute, type, t->list ? (const void *)bytes : (const void *)t->text) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    free(bytes);
    return good;
}

static mst_status write_text(hid_t file, hid_t links, const mst_hdf5_text *t) {
    const hid_t object = open_group(file, links, t->path);
    const bool good = object >= 0 && write_attribute(object, t);
    if (object >= 0) H5Oclose(object);
    return good ? MST_OK : hdf5_failed(t->path);
}

static mst_status give_image(hid_t file, mst_hdf5_put put, void *sink) {
    const ssize_t size = H5Fflush(file, H5F_SCOPE_LOCAL) < 0 ? -1 : H5Fget_file_image(file, NULL, 0);
    void *image = size > 0 ? malloc((size_t)size) : NULL;
    mst_status status = image && H5Fget_file_image(file, image, (size_t)size) == size ? MST_OK : hdf5_failed("/");
    if (!status) status = put(sink, image, (size_t)size);
    free(image);
    return status;
}

static mst_status write_all(hid_t file, const mst_hdf5_array *arrays, int64_t num_arrays, const mst_hdf5_text *texts,
                            int64_t num_texts) {
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), plain = H5Pcreate(H5P_DATASET_CREATE);
    mst_status status = links < 0 || plain < 0 || H5Pset_create_intermediate_group(links, 1) < 0 ||
                                H5Pset_obj_track_times(plain, false) < 0
                            ? hdf5_failed("/")
                            : MST_OK;
    for (int64_t i = 0; i < num_arrays && !status; i++) status = write_array(file, links, plain, &arrays[i]);
    for (int64_t i = 0; i < num_texts && !status; i++) status = write_text(file, links, &texts[i]);
    if (links >= 0) H5Pclose(links);
    if (plain >= 0) H5Pclose(plain);
    return status;
}

static mst_status write_hdf5(const mst_hdf5_array *arrays, int64_t num_arrays, const mst_hdf5_text *texts,
                             int64_t num_texts, mst_hdf5_put put, void *sink) {
    const hid_t list = in_memory(NULL, 0);
    const hid_t file = list < 0 ? -1 : H5Fcreate("muster.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list);
    mst_status status = file < 0 ? hdf5_failed("/") : write_all(file, arrays, num_arrays, texts, num_texts);
    if (!status) status = give_image(file, put, sink);
    if (file >= 0) H5Fclose(file);
    if (list >= 0) H5Pclose(list);
    return status;
}

/* ---- the module ---- */

/* Takes the lock and initializes the library. HDF5 prints errors unless the calling thread has turned that off. */
static void enter(void) {
    pthread_mutex_lock(&lock);
    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static mst_status hdf5_read(const char *name, const void *data, size_t size, const mst_hdf5_visitor *visitor) {
    enter();
    const mst_status status = read_apart(name, data, size, visitor);
    pthread_mutex_unlock(&lock);
    return status;
}

static mst_status hdf5_write(const mst_hdf5_array *arrays, int64_t num_arrays, const mst_hdf5_text *texts,
                             int64_t num_texts, mst_hdf5_put put, void *sink) {
    enter();
    const mst_status status = write_hdf5(arrays, num_arrays, texts, num_texts, put, sink);
    pthread_mutex_unlock(&lock);
    return status;
}

static const mst_hdf5_codec codec = {.read = hdf5_read, .write = hdf5_write};

extern const mst_module mst_module_hdf5;
const mst_module mst_module_hdf5 = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "hdf5", .version = MST_VERSION, .interface = &codec};
