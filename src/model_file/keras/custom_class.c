#include "model_file/keras/custom_class.h"

#include <string.h>

/* The packages under which Keras has been published, and the package of layers that only Muster has. */
static const char *const packages[] = {"keras", "keras_core", "tf_keras", "tensorflow", "muster"};

bool mst_keras_is_custom_class(const json_t *object) {
    const json_t *module = json_object_get(object, "module");
    const char *name = json_string_value(module);
    if (!name) return json_is_null(module);
    const size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strlen(packages[i]) == length && strncmp(name, packages[i], length) == 0) return false;
    return true;
}
