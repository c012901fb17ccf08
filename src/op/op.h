/** What every op file includes: the public op interface and the public functions of all ops.
 *
 *  An op file is, in this order: doc comment; the public declarations between `#ifdef MST_OP_HEADER` and
 *  `#endif`, which the build copies, with the doc comment, into muster/ops.h; fields; infer; grad; reference
 *  kernel; examples; the definition `const mst_op mst_op_<file name>`; the public function.
 *  CMake lists src/op/ and generates the table of ops: there is nothing else to edit.
 */
#ifndef MUSTER_OP_OP_H
#define MUSTER_OP_OP_H

#include "muster/op.h"
#include "muster/ops.h"

#endif
