#include "transport/token_proof.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t LONG_AGO = 60000000000; /* nanoseconds */

/* ---- logins: "NONCE-TIME-ADDRESS", 32 digits, the decimal nanoseconds, and an address in numbers ---- */

enum { DIGITS = MST_TOKEN_NONCE - 1, RANDOM = DIGITS / 2 };

bool mst_token_nonce_make(char nonce[MST_TOKEN_NONCE]) {
    unsigned char bytes[RANDOM];
    if (sodium_init() < 0) return false;
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(nonce, MST_TOKEN_NONCE, bytes, sizeof bytes);
    return true;
}

bool mst_token_login_make(int64_t now, const char *address, char login[MST_TOKEN_LOGIN]) {
    char nonce[MST_TOKEN_NONCE];
    if (!mst_token_nonce_make(nonce)) return false;
    return snprintf(login, MST_TOKEN_LOGIN, "%s-%" PRId64 "-%s", nonce, now, address) < MST_TOKEN_LOGIN;
}

bool mst_token_login_read(const char *login, mst_token_login *out) {
    if (strspn(login, "0123456789abcdef") != DIGITS || login[DIGITS] != '-') return false;
    const char *time = login + DIGITS + 1;
    const size_t length = strspn(time, "0123456789");
    if (length == 0 || time[length] != '-') return false;
    errno = 0;
    out->time = strtoll(time, NULL, 10);
    if (errno) return false;
    memcpy(out->nonce, login, DIGITS);
    out->nonce[DIGITS] = '\0';
    out->address = time + length + 1;
    return true;
}

/* ---- proofs ---- */

void mst_token_prove(const mst_cluster_keys *keys, mst_token_place place, const char *login, const char *challenge,
                     const mst_wire_header *sender, char proof[MST_TOKEN_PROOF]) {
    static const char *const words[] = {"login", "challenge", "answer"};
    crypto_generichash_state state;
    unsigned char hash[(MST_TOKEN_PROOF - 1) / 2];
    char first[64], last[96] = "";
    snprintf(first, sizeof first, "muster user token %d: %s", MST_WIRE_VERSION, words[place]);
    if (sender)
        snprintf(last, sizeof last, "%d from %" PRId32 " to %" PRId32 " of %" PRIu64, (int)sender->kind, sender->from,
                 sender->to, sender->instance);
    const char *const parts[] = {first, login, challenge ? challenge : "", last};
    crypto_generichash_init(&state, keys->token, sizeof keys->token, sizeof hash);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        crypto_generichash_update(&state, (const unsigned char *)parts[i], strlen(parts[i]) + 1);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(proof, MST_TOKEN_PROOF, hash, sizeof hash);
    sodium_memzero(&state, sizeof state);
}

bool mst_token_is_proved(const mst_cluster_keys *keys, mst_token_place place, const char *login, const char *challenge,
                         const mst_wire_header *sender, const void *shown, size_t size) {
    char proof[MST_TOKEN_PROOF];
    mst_token_prove(keys, place, login, challenge, sender, proof);
    return size == MST_TOKEN_PROOF - 1 && sodium_memcmp(shown, proof, size) == 0;
}

/* ---- each login is valid once ---- */

mst_token_use_result mst_token_use(mst_token_used *used, const mst_token_login *login, int64_t now) {
    if (login->time < used->since || login->time > now || now - login->time > LONG_AGO) return MST_TOKEN_OUT_OF_TIME;
    for (int i = 0; i < MST_TOKEN_USED; i++)
        if (strcmp(used->login[i].nonce, login->nonce) == 0) return MST_TOKEN_USED_BEFORE;
    const int64_t forgotten = used->login[used->next].time;
    if (used->since <= forgotten) used->since = forgotten + 1;
    memcpy(used->login[used->next].nonce, login->nonce, sizeof login->nonce);
    used->login[used->next].time = login->time;
    used->next = (used->next + 1) % MST_TOKEN_USED;
    return MST_TOKEN_TAKEN;
}
