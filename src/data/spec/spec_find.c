#include <string.h>

#include "data/spec/data_spec.h"

size_t mst_data_spec_name_size(const mst_data_spec *kind) {
    const size_t size = strcspn(kind->form, ":");
    return size + (kind->form[size] == ':');
}

const mst_data_spec *mst_data_spec_find(const char *spec) {
    const mst_data_spec *const *kind = mst_data_spec_table;
    while (*kind && strncmp(spec, (*kind)->form, mst_data_spec_name_size(*kind)) != 0) kind++;
    return *kind;
}
