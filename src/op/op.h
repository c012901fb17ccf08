/** The header that every op file includes: the public op interface and the public functions of all ops.
 *
 *  An op file is, in this order: doc comment; the public declarations between `#ifdef MST_OP_HEADER` and
 *  `#endif`, which the build copies, with the doc comment, into muster/ops.h; fields; infer; grad; reference
 *  kernel; examples; the definition `const mst_op mst_op_<file name>`; the public function.
 *  Names of its static functions begin with the name of the file, so that a debugger and a profile tell ops apart.
 *  CMake lists src/op/ and generates the table of ops: there is nothing else to edit.
 */
#ifndef MUSTER_OP_OP_H
#define MUSTER_OP_OP_H

#include "muster/hlo.h"
#include "muster/op.h"
#include "muster/ops.h"

/* Tests and benchmarks need the examples of ops, the library does not. The build of the library leaves MST_OP_EXAMPLES
 * undefined, and its ops have no examples. MST_EXAMPLES then names a list but does not use it, so the compiler drops
 * the list. */
#ifndef MST_OP_EXAMPLES
#undef MST_EXAMPLES
#define MST_EXAMPLES(list) .examples = false ? (list) : NULL, .num_examples = 0
#endif

#endif
