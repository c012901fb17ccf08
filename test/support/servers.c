#include "support/servers.h"

#include <stdio.h>

#include "support/test.h"

void servers_make(servers *all) {
    memset(all, 0, sizeof *all);
    all->devices = "cpu:2/1";
    tasks_find_addresses(all->address, SERVERS);
    for (int i = 0; i < SERVERS; i++) EXPECT_OK(mst_store_create(&all->store[i]));
}

mst_cluster *servers_cluster(const servers *all, int i) {
    char workers[80];
    mst_cluster *cluster;
    snprintf(workers, sizeof workers, "%s,%s", all->address[0], all->address[1]);
    EXPECT_OK(mst_cluster_from_hosts(all->address[2], workers, i == 2 ? "ps" : "worker", i == 2 ? 0 : i, &cluster));
    return cluster;
}

void server_start(servers *all, int i) {
    mst_cluster *cluster = servers_cluster(all, i);
    EXPECT_OK(mst_task_server_start(&all->server[i], .cluster = cluster, .devices = engine_here(all->devices),
                                    .store = all->store[i]));
    mst_cluster_release(cluster);
}

void server_end(servers *all, int i) {
    mst_task_server_destroy(all->server[i]);
    all->server[i] = NULL;
    mst_store_release(all->store[i]);
    EXPECT_OK(mst_store_create(&all->store[i]));
}

void servers_start(servers *all) {
    servers_make(all);
    for (int i = 0; i < SERVERS; i++) server_start(all, i);
}

void servers_end(servers *all) {
    for (int i = 0; i < SERVERS; i++) {
        mst_task_server_destroy(all->server[i]);
        mst_store_release(all->store[i]);
    }
}

mst_session *servers_session(const servers *all, int i, mst_graph *graph, const mst_session_options *options) {
    char target[60];
    mst_session_options own = options ? *options : (mst_session_options){0};
    mst_session *session;
    snprintf(target, sizeof target, "tcp://%s", all->address[i]);
    own.target = target;
    if (own.timeout == 0) own.timeout = SERVER_SECONDS;
    EXPECT_OK(mst_session_create(graph, &own, &session));
    return session;
}
