/* The entry of a module of this tree; each such module is linked with it. Code of a module is written like any other
 * code, because the static library contains it too. Its calls of library functions are forwarded here, by the table
 * that the library gives. */
#include <stdarg.h>
#include <stdio.h>

#include "module/module.h"

/* The name that the linker gives to mst_module_NAME here (cmake/modules.cmake). */
extern const mst_module mst_module_here;
extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

static const mst_registrar *library;

mst_status mst_error_set(mst_status code, const char *file, int line, const char *format, ...) {
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return library->error_set(code, file, line, "%s", message);
}

void mst_unbind_thread(void) {
    library->unbind_thread();
}

static mst_status load(const mst_registrar *registrar) {
    library = registrar;
    return mst_module_here.load ? mst_module_here.load(registrar) : MST_OK;
}

const mst_module *mst_module_query(uint32_t host_abi) {
    static mst_module module;
    module = mst_module_here;
    module.load = load;
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
