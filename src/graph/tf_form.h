/** Forms: how an op is said in TensorFlow's ops. mst_op.tf_form has them as text, one a line:
 *
 *      [<|>] NODE [if CONDITION ...]
 *
 *      NODE       Op(ARGUMENT, ...; ATTRIBUTE ...), followed by :1 for its output 1
 *      ARGUMENT   $0 source 0 | $* all sources | ^* all sources, that only run before
 *                 | OPTION[:TYPE] a constant | @MADE[:TYPE] a constant made of options | NUMBER[:TYPE] | NODE
 *      ATTRIBUTE  KEY=VALUE[|DEFAULT]: what TensorFlow takes where a file does not have it
 *      VALUE      OPTION | @MADE | TYPE | n, the number of sources | NUMBER | true | false | 'TEXT' | *, any in a file
 *      TYPE       t0 dtype of source 0 | d0 of output 0 | f32, i64, ...
 *      CONDITION  LEFT==RIGHT, LEFT!=RIGHT or LEFT>RIGHT, of OPTION, n, rank0, t0, float0 (source 0 is a float), known
 *                 (the shape of output 0), and of numbers and dtypes
 *
 *  A graph is written by the first form whose conditions hold, of those without '<'. A node of another program is read
 *  by the forms without '>', which are one node each. The attribute T is that of the first argument (of the second for
 *  SelectV2) where it is not given.
 *
 *  What is made of options:
 *
 *      axes                  those of a reduction, all in full where there are none
 *      perm                  the axes in reverse where there are none
 *      paddings              [ndim, 2]: before, after
 *      shape                 of output 0
 *      axis                  counted from the front
 *      last                  the last axis of source 0
 *      begin, end, strides   of strided_slice, of one length
 *      begin_mask, end_mask  its masks, with the bits of what has no begin, no end
 */
#ifndef MUSTER_GRAPH_TF_FORM_H
#define MUSTER_GRAPH_TF_FORM_H

#include "base/arena.h"
#include "muster/op.h"

enum { MST_FORM_MOST = 8 }; /**< arguments and attributes of a node */

typedef struct mst_form mst_form;

typedef struct mst_form_argument {
    enum {
        MST_FORM_NODE,
        MST_FORM_SOURCE,
        MST_FORM_SOURCES,
        MST_FORM_BEFORE,
        MST_FORM_OPTION,
        MST_FORM_MADE,
        MST_FORM_NUMBER
    } kind;
    int index;        /**< of the source; of the node's output */
    double number;    /**< of MST_FORM_NUMBER */
    const char *name; /**< of the option, of what is made; for a node all of its text */
    const char *type; /**< NULL: not given */
    const mst_form *node;
} mst_form_argument;

typedef struct mst_form_attribute {
    const char *key, *value;
    const char *otherwise; /**< NULL: none */
} mst_form_attribute;

struct mst_form {
    bool is_read, is_written;
    const char *op;
    int num_arguments, num_attributes;
    mst_form_argument argument[MST_FORM_MOST];
    mst_form_attribute attribute[MST_FORM_MOST];
    const char *conditions; /**< "" for none */
};

/** Parses the form at *TEXT into ARENA and moves *TEXT past it. *OUT is NULL where no form is left. */
MST_CHECKED mst_status mst_form_parse(mst_arena *arena, const mst_op *op, const char **text, const mst_form **out);
/** The first form of OP is read by this name; *LENGTH is 0 where none is. */
const char *mst_form_name(const mst_op *op, size_t *length);

/** What conditions are about. */
typedef struct mst_form_use {
    const mst_op *op;
    const void *options;
    int num_src;
    const mst_spec *src;
    const mst_spec *dst; /**< NULL: not known yet, and conditions about options and outputs hold */
} mst_form_use;

/** Whether the conditions of FORM hold. */
bool mst_form_holds(const mst_form *form, const mst_form_use *use);
/** "t0", "d0", "f32", the name of an option that is a dtype; MST_NO_DTYPE where TEXT is none of them. */
mst_dtype mst_form_dtype(const mst_form_use *use, const char *text);
/** The next condition at *CONDITIONS as its two sides and the operator, '=', '!' or '>'; false at the end. */
bool mst_form_condition(const char **conditions, char left[32], char right[32], char *operation);
const mst_field *mst_op_field(const mst_op *op, const char *name);

#endif
