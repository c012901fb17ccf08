/** Models of ONNX as tests write them. */
#ifndef MUSTER_TEST_SUPPORT_ONNX_MESSAGE_H
#define MUSTER_TEST_SUPPORT_ONNX_MESSAGE_H

#include "model_file/onnx/onnx_file.h"

enum { ONNX_MOST = 16, ONNX_ATTRIBUTES = 8, ONNX_NAMES = 10, ONNX_INTS = 8 };

/** A model of some nodes, each of a list of names: operator, output, inputs. */
typedef struct onnx_message {
    Muster__OnnxModel model;
    Muster__OnnxGraph graph;
    Muster__OnnxOpset opset, *opsets[1];
    Muster__OnnxNode node[ONNX_MOST], *nodes[ONNX_MOST];
    Muster__OnnxAttribute attribute[ONNX_MOST][ONNX_ATTRIBUTES], *attributes[ONNX_MOST][ONNX_ATTRIBUTES];
    Muster__OnnxTensor tensor[ONNX_MOST], *tensors[ONNX_MOST];
    Muster__OnnxValue value[ONNX_MOST], *inputs[ONNX_MOST], *outputs[ONNX_MOST];
    Muster__OnnxType type[ONNX_MOST];
    Muster__OnnxTensorType tensor_type[ONNX_MOST];
    Muster__OnnxShape shape[ONNX_MOST];
    Muster__OnnxDimension dim[ONNX_MOST][MST_MAX_NDIM], *dims[ONNX_MOST][MST_MAX_NDIM];
    int num_values;
    char words[ONNX_MOST][200], *name[ONNX_MOST][ONNX_NAMES];
    int64_t size[ONNX_MOST];
    char text[1200];
    int64_t ints[ONNX_MOST][ONNX_ATTRIBUTES][ONNX_INTS];
    int64_t number, one;
    Muster__OnnxTensor number_tensor;
} onnx_message;

char *onnx_text(const char *constant);
void onnx_begin(onnx_message *m, int64_t opset);
Muster__OnnxValue *onnx_add_value(onnx_message *m, const char *name, mst_dtype dtype, mst_shape shape);
/** Of f32. */
void onnx_add_input(onnx_message *m, const char *name, mst_shape shape);
void onnx_add_output(onnx_message *m, const char *name, mst_shape shape);
/** WORDS: operator, output, inputs. */
Muster__OnnxNode *onnx_add_node(onnx_message *m, const char *words);
/** Of the last node. */
Muster__OnnxAttribute *onnx_add_attribute(onnx_message *m, const char *name, int type);
/** NODES: separated by ';', each of words: operator, output, inputs, _ for none, and attributes: name=1, name=1.5,
 *  name=1,2 (a list) or name:text. The attribute value is a tensor of i64, one number for all nodes. */
void onnx_add_nodes(onnx_message *m, const char *nodes);
/** Whether NODES have NAME as an input. */
bool onnx_nodes_name(const char *nodes, const char *name);
/** An initializer of i64, one dimension of COUNT numbers; LIST stays the caller's. */
Muster__OnnxTensor *onnx_add_list(onnx_message *m, const char *name, int64_t *list, size_t count);
/** To be freed by the caller. */
void *onnx_pack(const onnx_message *m, size_t *size);
mst_graph *onnx_decode(const onnx_message *m);
void onnx_expect_refused(const onnx_message *m, mst_status code, const char *why);

#endif
