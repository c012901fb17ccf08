/* The interpreter of StableHLO (support/hlo_interpreter.h): finds an op by its name in the tables of the other
 * files. */
#include <string.h>

#include "support/hlo_inside.h"

const hlo_row *hlo_row_find(const char *name, int length) {
    const hlo_row *const families[] = {hlo_elementwise_rows, hlo_move_rows,  hlo_contract_rows, hlo_reduce_rows,
                                       hlo_window_rows,      hlo_index_rows, hlo_control_rows};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const hlo_row *row = families[i]; row->name; row++)
            if (strlen(row->name) == (size_t)length && !memcmp(row->name, name, (size_t)length)) return row;
    return NULL;
}
