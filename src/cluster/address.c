#include "cluster/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PORT = 65535, QUOTED = 80 /* most characters of a wrong text in an error message */ };

/* TEXT without the scheme before it, if there is one. */
static const char *skip_scheme(const char *text) {
    static const char *const schemes[] = {"grpc://", "tcp://"};
    while (isspace((unsigned char)*text)) text++;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(text, schemes[i], strlen(schemes[i])) == 0) return text + strlen(schemes[i]);
    return text;
}

static bool parse_port(const char *text, size_t length, uint16_t *out) {
    const size_t most_digits = 5;
    if (length == 0 || length > most_digits || strspn(text, "0123456789") < length) return false;
    const long port = strtol(text, NULL, 10);
    if (port > MOST_PORT) return false;
    *out = (uint16_t)port;
    return true;
}

/* Parses "[::1]"; HOST gets it without brackets, in its shortest form. */
static mst_status parse_ipv6(const char *text, size_t length, char *host) {
    char inside[INET6_ADDRSTRLEN] = "";
    struct in6_addr bits;
    const bool fits = length > 2 && text[length - 1] == ']' && length - 2 < sizeof inside;
    if (fits) memcpy(inside, text + 1, length - 2);
    if (!fits || inet_pton(AF_INET6, inside, &bits) != 1)
        return MST_FAIL(MST_INVALID, "'%.*s' is not an IPv6 address: write it like [2001:db8::1]:2222",
                        length < QUOTED ? (int)length : QUOTED, text);
    inet_ntop(AF_INET6, &bits, host, MST_HOST_TEXT);
    return MST_OK;
}

static mst_status parse_host(const char *text, size_t length, char *host) {
    const int quoted = length < QUOTED ? (int)length : QUOTED;
    if (length && *text == '[') return parse_ipv6(text, length, host);
    if (memchr(text, ':', length))
        return MST_FAIL(MST_INVALID, "'%.*s': write an IPv6 address in brackets, as in [2001:db8::1]:2222", quoted,
                        text);
    bool good = length > 0 && length < MST_HOST_TEXT, is_number = true;
    for (size_t i = 0; good && i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        good = (isascii(c) && isalnum(c)) || c == '.' || c == '-' || c == '_';
        is_number &= isdigit(c) || c == '.';
        host[i] = (char)tolower(c);
    }
    if (good) host[length] = '\0';
    struct in_addr bits;
    if (good && is_number) good = inet_pton(AF_INET, host, &bits) == 1;
    if (good) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%.*s' is not a host's name or address: write host:port, such as 10.0.0.1:2222",
                    quoted, text);
}

mst_status mst_address_parse(const char *text, mst_address *out) {
    const char *begin = skip_scheme(text), *end = begin + strlen(begin);
    while (end > begin && isspace((unsigned char)end[-1])) end--;
    const char *colon = memrchr(begin, ':', (size_t)(end - begin));
    if (!colon || end[-1] == ']')
        return MST_FAIL(MST_INVALID, "'%.*s' has no port: write host:port, such as worker0:2222", QUOTED, text);
    const char *port = colon + 1, *host_end = colon;
    while (isspace((unsigned char)*port)) port++;
    while (host_end > begin && isspace((unsigned char)host_end[-1])) host_end--;
    mst_address address;
    if (!parse_port(port, (size_t)(end - port), &address.port))
        return MST_FAIL(MST_INVALID, "'%.*s': the port must be a number from 1 to %d, as in worker0:2222", QUOTED, text,
                        MOST_PORT);
    MST_TRY(parse_host(begin, (size_t)(host_end - begin), address.host));
    *out = address;
    return MST_OK;
}

char *mst_address_print(const mst_address *address, char *text) {
    const bool brackets = strchr(address->host, ':') != NULL;
    snprintf(text, MST_ADDRESS_TEXT, brackets ? "[%s]:%u" : "%s:%u", address->host, (unsigned)address->port);
    return text;
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

bool mst_address_is_loopback(const mst_address *address) {
    static const char *const names[] = {"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "::1"};
    struct in_addr bits;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(address->host, names[i]) == 0) return true;
    if (ends_with(address->host, ".localhost")) return true;
    return inet_pton(AF_INET, address->host, &bits) == 1 && ntohl(bits.s_addr) >> 24 == IN_LOOPBACKNET;
}
