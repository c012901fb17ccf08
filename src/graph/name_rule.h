/** The rule for names of nodes, scopes and layers (mst_name_is_valid, graph/graph.h) as a text for messages. */
#ifndef MUSTER_GRAPH_NAME_RULE_H
#define MUSTER_GRAPH_NAME_RULE_H

#define MST_NAME_RULE "use letters, digits, '_', '.' and '-', in parts with '/' between them that are not '.' or '..'"

#endif
