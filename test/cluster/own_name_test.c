/* The name at which a task listens. The name may become known late, and must not be one that only this host can
 * reach. The test looks up names itself, in place of the system's resolver. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/free_ports.h"
#include "messages/task_message.h"
#include "parameter_server/ps_message.h"
#include "support/test.h"

/* ---- the resolver, of modules too ---- */

enum { KNOWN_AT = 3 };
static atomic_int asked; /* for the name "late" */

static const char *number_of(const char *name, bool numbers_only) {
    struct in_addr number;
    if (inet_pton(AF_INET, name, &number) == 1) return name;
    if (numbers_only) return NULL;
    if (strcmp(name, "late") == 0) return atomic_fetch_add(&asked, 1) + 1 < KNOWN_AT ? NULL : "127.0.0.1";
    if (strncmp(name, "debian", 6) == 0) return "127.0.1.1";
    return strcmp(name, "far") == 0 ? "192.0.2.1" /* of no machine (RFC 5737) */ : NULL;
}

MST_API int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out) {
    const char *number = number_of(name, hints && (hints->ai_flags & AI_NUMERICHOST));
    if (!number) return EAI_NONAME;
    struct addrinfo *found = calloc(1, sizeof *found + sizeof(struct sockaddr_in));
    assert_non_null(found);
    struct sockaddr_in *address = (void *)(found + 1);
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)(service ? strtoul(service, NULL, 10) : 0));
    inet_pton(AF_INET, number, &address->sin_addr);
    found->ai_family = AF_INET;
    found->ai_socktype = SOCK_STREAM;
    found->ai_addrlen = sizeof *address;
    found->ai_addr = (void *)address;
    *out = found;
    return 0;
}

MST_API void freeaddrinfo(struct addrinfo *found) {
    free(found);
}

/* ---- tasks ---- */

static mst_status open_as(const char *first, const char *second, bool (*stop)(void *), FILE *log) {
    int port[2];
    char hosts[100];
    mst_cluster *cluster;
    mst_mail *mail = NULL;
    EXPECT_OK(mst_find_free_ports(2, port));
    snprintf(hosts, sizeof hosts, "%s:%d,%s:%d", first, port[0], second, port[1]);
    EXPECT_OK(mst_cluster_from_hosts(NULL, hosts, "worker", 0, &cluster));
    const mst_mail_options options = {
        .cluster = cluster, .protocol = &mst_ps_protocol, .name_seconds = MST_NAME_SECONDS, .stop = stop, .log = log};
    const mst_status status = mst_mail_open(&options, &mail);
    mst_mail_close(mail);
    mst_cluster_release(cluster);
    return status;
}

static void name_that_becomes_known_is_waited_for(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *log = open_memstream(&text, &size);
    assert_non_null(log);
    EXPECT_OK(open_as("late", "late", NULL, log));
    fclose(log);
    assert_true(atomic_load(&asked) >= KNOWN_AT);
    assert_non_null(strstr(text, "its host is not known here"));
    free(text);
}

static bool at_once(void *context) {
    (void)context;
    return true;
}

static void who_is_to_stop_waits_for_no_name(void **state) {
    (void)state;
    EXPECT_ERROR(open_as("nobody", "far", at_once, NULL), MST_INVALID, "its host is not known here");
}

static void name_that_other_hosts_cannot_reach_is_an_error(void **state) {
    (void)state;
    EXPECT_ERROR(open_as("debian", "far", NULL, NULL), MST_INVALID, "on this host its name is 127.0.1.1:");
    EXPECT_ERROR(open_as("debian", "nobody", NULL, NULL), MST_INVALID, "tasks on other hosts");
    EXPECT_OK(open_as("debian", "debian", NULL, NULL));
    EXPECT_OK(open_as("debian", "debian-too", NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_that_becomes_known_is_waited_for),
        cmocka_unit_test(who_is_to_stop_waits_for_no_name),
        cmocka_unit_test(name_that_other_hosts_cannot_reach_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
