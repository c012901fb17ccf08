#include "graph/type_name.h"

#include <ctype.h>
#include <stdio.h>

#include "graph/tf_form.h"

const char *mst_op_type_name(const mst_op *op, char *text, size_t size) {
    size_t length, used = 0;
    const char *name = mst_form_name(op, &length);
    if (length) {
        snprintf(text, size, "%.*s", (int)length, name);
        return text;
    }
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
