/** The encoding of tf.train.Example.
 *
 *      Example          1 Features
 *      SequenceExample  1 Features (context), 2 FeatureLists
 *      Features         1 map: string -> Feature
 *      FeatureLists     1 map: string -> FeatureList;  FeatureList: 1 Feature, repeated
 *      Feature          one of: 1 BytesList, 2 FloatList, 3 Int64List; each: 1 value, repeated
 *
 *  A map is a repeated message with 1 key, 2 value. If a key occurs again, or a Feature has a list of another kind, the
 *  later one counts. Several lists of the same kind in one Feature are joined. Floats and integers may be packed or
 *  not.
 *
 *  Source: tensorflow/core/example/example.proto, feature.proto.
 */
#ifndef MUSTER_FORMAT_EXAMPLE_H
#define MUSTER_FORMAT_EXAMPLE_H

#include "format/wire.h"
#include "muster/example.h"

/** One entry of the features or of the feature_lists. */
typedef struct mst_example_entry {
    mst_wire name;
    mst_wire value; /**< Feature, or FeatureList */
    bool sequence;
} mst_example_entry;

/** The position of a walk over the entries. */
typedef struct mst_example_walk {
    mst_wire example; /**< what is left of the Example or SequenceExample */
    mst_wire entries; /**< what is left of its current Features or FeatureLists */
    bool sequence;    /**< `entries` are of FeatureLists */
} mst_example_walk;

/** Moves to the next entry. False if the message is damaged. At the end, entry->name.at is NULL. */
bool mst_example_next(mst_example_walk *walk, mst_example_entry *entry);

/** Finds the kind of a Feature, and where its lists of that kind begin. False if it is damaged. */
bool mst_feature_find(mst_wire feature, mst_feature_kind *kind, mst_wire *lists);

/** Copies the numbers in LISTS, from mst_feature_find, to DST: at most MOST of them, integers as i64, floats as f32.
 *  Returns how many there are in all; -1 if they are damaged. */
int64_t mst_feature_numbers(mst_feature_kind kind, mst_wire lists, void *dst, int64_t most);

#endif
