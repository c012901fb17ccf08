#include "base/json_text.h"

json_t *mst_json_read(const char *text, size_t size, json_error_t *error) {
    return json_loadb(text, size, JSON_REJECT_DUPLICATES, error);
}

json_t *mst_json_read_string(const char *text, json_error_t *error) {
    return json_loads(text, JSON_REJECT_DUPLICATES, error);
}

json_t *mst_json_read_value(const char *text, json_error_t *error) {
    return json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, error);
}
