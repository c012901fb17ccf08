/* The version of Muster, and the libraries that it uses with their versions. */
#include "muster/version.h"

#include <dnnl.h>
#include <hwloc.h>
#include <isa-l.h>
#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>

#include "base/argument.h"

enum { NUM_LIBRARIES = 6, VERSION_SIZE = 32 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char text[NUM_LIBRARIES][VERSION_SIZE];
static mst_library libraries[NUM_LIBRARIES] = {
    {"oneDNN", text[0], "CPU kernels"},
    {"ISA-L", text[1], "gzip, zip and check sums"},
    {"jansson", text[2], "JSON"},
    {"hwloc", text[3], "cores, caches and binding"},
    {"libsodium", text[4], "SHA-256 of weights, keys of clusters"},
    {"protobuf-c", text[5], "graph files and event files"},
};

static void library_versions_fill(void) {
    const dnnl_version_t *dnnl = dnnl_version();
    snprintf(text[0], VERSION_SIZE, "%d.%d.%d", dnnl->major, dnnl->minor, dnnl->patch);
    /* ISA-L has no version at run time; hwloc has only the version of its interface */
    snprintf(text[1], VERSION_SIZE, "%d.%d.%d", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
    snprintf(text[2], VERSION_SIZE, "%s", jansson_version_str());
    snprintf(text[3], VERSION_SIZE, "%s", HWLOC_VERSION);
    snprintf(text[4], VERSION_SIZE, "%s", sodium_version_string());
    snprintf(text[5], VERSION_SIZE, "%s", protobuf_c_version());
}

const char *mst_version(void) {
    return MST_VERSION;
}

int mst_libraries(const mst_library **out) {
    if (MST_IS_NULL(out)) return 0;
    pthread_once(&once, library_versions_fill);
    *out = libraries;
    return NUM_LIBRARIES;
}
