/** Files of programs for test/parity/hlo_test.py, in the folder that MUSTER_HLO_FOLDER names: N.mlir, N.bin (arguments,
 *  then results) and a line in `list`. */
#ifndef MUSTER_TEST_SUPPORT_HLO_FOLDER_H
#define MUSTER_TEST_SUPPORT_HLO_FOLDER_H

#include "support/hlo_case.h"

/** Writes the files of H; does nothing without MUSTER_HLO_FOLDER. */
void hlo_folder_keep(const hlo_case *h);
/** Closes `list`. */
void hlo_folder_end(void);

#endif
