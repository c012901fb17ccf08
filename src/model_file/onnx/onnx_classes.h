/** Classifiers of ai.onnx.ml, as scikit-learn's converter writes them: two outputs, the label of each example and the
 *  scores of all classes, and the names of the classes in attributes. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_CLASSES_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_CLASSES_H

#include "model_file/onnx/onnx_file.h"

/** The classes that the nodes of FILE name; all 0 if they name none. The lists belong to the file. */
typedef struct mst_onnx_classes {
    size_t count;
    const ProtobufCBinaryData *text; /**< [count] their names; NULL: they have only numbers */
    const int64_t *number;           /**< [count] */
    mst_tensor *tensor;              /**< or the numbers as a tensor of integers */
    bool has_map;                    /**< a ZipMap makes maps from names to scores */
} mst_onnx_classes;
void mst_onnx_classes_find(const mst_onnx_file *file, mst_onnx_classes *out);

/** Whether output I of FILE has one label, a whole number or a text, for each example. */
bool mst_onnx_is_label(const mst_onnx_file *file, size_t i);
/** Whether output I has the scores of all classes. */
bool mst_onnx_is_scores(const mst_onnx_file *file, size_t i, const mst_onnx_classes *classes);
/** Whether output I is known to have probabilities that add up to 1. */
bool mst_onnx_is_probabilities(const mst_onnx_file *file, size_t i);
/** The note (cli/model/model_note.h) of a model whose only output is the scores of CLASSES. PROBABILITIES: the scores
 *  are probabilities. NULL: there is nothing to note, or memory has run out. The caller frees the text. */
char *mst_onnx_classes_note(const mst_onnx_classes *classes, bool probabilities);

#endif
