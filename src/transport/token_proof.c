#include "transport/token_proof.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "NONCE-TIME", 32 digits and the decimal nanoseconds. */
enum { NONCE = 16, DIGITS = 2 * NONCE };

bool mst_token_login_make(int64_t now, char login[MST_TOKEN_LOGIN]) {
    unsigned char nonce[NONCE];
    if (sodium_init() < 0) return false;
    randombytes_buf(nonce, sizeof nonce);
    sodium_bin2hex(login, DIGITS + 1, nonce, sizeof nonce);
    snprintf(login + DIGITS, MST_TOKEN_LOGIN - DIGITS, "-%" PRId64, now);
    return true;
}

int64_t mst_token_login_time(const char *login, size_t size) {
    char text[MST_TOKEN_LOGIN], *end;
    if (size <= DIGITS + 1 || size >= sizeof text || memchr(login, '\0', size)) return -1;
    memcpy(text, login, size);
    text[size] = '\0';
    if (strspn(text, "0123456789abcdef") != DIGITS || text[DIGITS] != '-') return -1;
    if (strspn(text + DIGITS + 1, "0123456789") != size - DIGITS - 1) return -1;
    errno = 0;
    const long long time = strtoll(text + DIGITS + 1, &end, 10);
    return errno ? -1 : (int64_t)time;
}

void mst_token_prove(const mst_cluster_keys *keys, mst_token_side side, const char *numeric, const char *login,
                     char proof[MST_TOKEN_PROOF]) {
    static const char *const words[] = {"muster user token: connector", "muster user token: listener"};
    crypto_generichash_state state;
    unsigned char hash[(MST_TOKEN_PROOF - 1) / 2];
    const char *const parts[] = {words[side], numeric, login};
    crypto_generichash_init(&state, keys->token, sizeof keys->token, sizeof hash);
    for (int i = 0; i < 3; i++)
        crypto_generichash_update(&state, (const unsigned char *)parts[i], strlen(parts[i]) + 1);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(proof, MST_TOKEN_PROOF, hash, sizeof hash);
    sodium_memzero(&state, sizeof state);
}

bool mst_token_is_proved(const mst_cluster_keys *keys, mst_token_side side, const char *numeric, const char *login,
                         const void *shown, size_t size) {
    char proof[MST_TOKEN_PROOF];
    mst_token_prove(keys, side, numeric, login, proof);
    return size == MST_TOKEN_PROOF - 1 && sodium_memcmp(shown, proof, size) == 0;
}
