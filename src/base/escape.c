#include "base/escape.h"

#include <stdio.h>

const char *mst_escape(unsigned char c, char text[MST_ESCAPE_TEXT]) {
    if (c == '\\' || c == '\'')
        snprintf(text, MST_ESCAPE_TEXT, "\\%c", c);
    else if (c == '\n' || c == '\t' || c == '\r')
        snprintf(text, MST_ESCAPE_TEXT, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else if (c < ' ' || c == 0x7f)
        snprintf(text, MST_ESCAPE_TEXT, "\\x%02x", c);
    else
        snprintf(text, MST_ESCAPE_TEXT, "%c", c);
    return text;
}
