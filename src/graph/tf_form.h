/** Forms: how an op is expressed in TensorFlow's ops. mst_op.tf_form has them as text, one per line:
 *
 *      [<|>] NODE [if CONDITION ...]
 *
 *      NODE       Op(ARGUMENT, ...; ATTRIBUTE ...), followed by :1 for its output 1
 *      ARGUMENT   $0 source 0 | $* all sources | ^* all sources, as control inputs
 *                 | OPTION[:TYPE] a constant | @MADE[:TYPE] a constant made from options | NUMBER[:TYPE] | NODE
 *      ATTRIBUTE  KEY=VALUE[|DEFAULT]. TensorFlow takes DEFAULT if a file does not have the attribute.
 *      VALUE      OPTION | @MADE | TYPE | n, the number of sources | NUMBER | true | false | 'TEXT' | * any value
 *      TYPE       t0 dtype of source 0 | d0 of output 0 | f32, i64, ...
 *      CONDITION  LEFT==RIGHT, LEFT!=RIGHT or LEFT>RIGHT. The sides are OPTION, n, rank0, t0, float0 (source 0 is a
 *                 float), known (the shape of output 0 is known), numbers and dtypes.
 *
 *  A node is written by the first form without '<' whose conditions hold. To read a node from a file, the first form
 *  without '>' is taken that has its Op and its number of inputs, and whose conditions hold. Such forms have no NODE as
 *  an argument. If the attribute T is not given, it is the dtype of the first argument, or of the second for SelectV2.
 *
 *  The constants @MADE:
 *
 *      axes                  the axes of a reduction; if there are none, the list of all axes
 *      perm                  the order of axes of a transpose; if there is none, the reverse order
 *      paddings              [ndim, 2]: before, after
 *      shape                 the shape of output 0
 *      axis                  the axis, counted from the front
 *      last                  the last axis of source 0
 *      begin, end, strides   of strided_slice, all of the same length
 *      begin_mask, end_mask  its masks: the bits of dimensions without a begin, without an end
 */
#ifndef MUSTER_GRAPH_TF_FORM_H
#define MUSTER_GRAPH_TF_FORM_H

#include "base/arena.h"
#include "muster/op.h"

enum { MST_FORM_MOST = 8 }; /**< most arguments, and most attributes, of a node */

typedef struct mst_form mst_form;

typedef struct mst_form_argument {
    enum {
        MST_FORM_NODE,
        MST_FORM_SOURCE,  /**< $0 */
        MST_FORM_SOURCES, /**< $* */
        MST_FORM_BEFORE,  /**< ^* */
        MST_FORM_OPTION,  /**< this and the following are constants */
        MST_FORM_MADE,
        MST_FORM_NUMBER
    } kind;
    int index;        /**< number of the source, or of the node's output */
    double number;    /**< for MST_FORM_NUMBER: the number */
    const char *name; /**< name of the option or of the made constant; for a node its whole text */
    const char *type; /**< NULL: not given */
    const mst_form *node;
} mst_form_argument;

typedef struct mst_form_attribute {
    const char *key, *value;
    const char *otherwise; /**< DEFAULT; NULL: none */
} mst_form_attribute;

struct mst_form {
    bool is_read, is_written; /**< the line has no '>', no '<' */
    const char *op;
    int num_arguments, num_attributes;
    mst_form_argument argument[MST_FORM_MOST];
    mst_form_attribute attribute[MST_FORM_MOST];
    const char *conditions; /**< "": none */
};

/** Parses the form at *TEXT into ARENA and moves *TEXT past it. *OUT is NULL if no form is left. */
MST_CHECKED mst_status mst_form_parse(mst_arena *arena, const mst_op *op, const char **text, const mst_form **out);
/** The name of the node type from which the first form of OP is read; *LENGTH is 0 if there is none. */
const char *mst_form_name(const mst_op *op, size_t *length);

/** The node to which conditions are applied. */
typedef struct mst_form_use {
    const mst_op *op;
    const void *options;
    int num_src;
    const mst_spec *src;
    const mst_spec *dst; /**< NULL: options and outputs are not known yet, and conditions about them hold */
} mst_form_use;

/** Whether the conditions of FORM hold. */
bool mst_form_holds(const mst_form *form, const mst_form_use *use);
/** The dtype that TEXT names: "t0", "d0", "f32", or an option that is a dtype. MST_NO_DTYPE if TEXT names none. */
mst_dtype mst_form_dtype(const mst_form_use *use, const char *text);
/** Takes the next condition at *CONDITIONS: its two sides and the operator, '=', '!' or '>'. False at the end. */
bool mst_form_condition(const char **conditions, char left[32], char right[32], char *operation);
/** The option of OP with this name; NULL: there is none. */
const mst_field *mst_op_field(const mst_op *op, const char *name);

#endif
