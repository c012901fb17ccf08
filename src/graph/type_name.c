#include "graph/type_name.h"

#include <ctype.h>

const char *mst_op_type_name(const mst_op *op, char *text, size_t size) {
    if (op->tf_name) return op->tf_name;
    size_t used = 0;
    bool upper = true;
    for (const char *from = op->name; *from && used + 1 < size; from++) {
        if (*from == '_') {
            upper = true;
        } else {
            text[used++] = upper ? (char)toupper((unsigned char)*from) : *from;
            upper = false;
        }
    }
    text[used] = '\0';
    return text;
}
