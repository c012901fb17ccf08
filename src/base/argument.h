/** The check that begins every public function: a pointer that must not be NULL. */
#ifndef MUSTER_BASE_ARGUMENT_H
#define MUSTER_BASE_ARGUMENT_H

#include "muster/status.h"

/** True if ARGUMENT is NULL; then the error is MST_INVALID, "mst_fit: model is NULL".
 *
 *      if (MST_IS_NULL(model) || MST_IS_NULL(out)) return MST_INVALID;
 */
#define MST_IS_NULL(argument) (!(argument) && ((void)mst_argument_null(__func__, #argument, __FILE__, __LINE__), 1))

/** Records that ARGUMENT of the public function FUNCTION is NULL, and returns MST_INVALID, which is not 0. A function
 *  that is called through a macro ("mst_fit_with") gets the macro's name ("mst_fit"). */
mst_status mst_argument_null(const char *function, const char *argument, const char *file, int line);

#endif
