/* The entry point of Muster's own modules: this file is linked into each of them. The code of such a module calls
 * library functions directly, because the static library contains the same code. In a module, this file defines these
 * functions: they call the library through the table that it gives to the module (mst_registrar). */
#include <stdarg.h>
#include <stdio.h>

#include "module/module.h"

/* The linker gives this name to the module's mst_module_NAME (cmake/modules.cmake). */
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
