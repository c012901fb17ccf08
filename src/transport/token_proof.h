/** How the two ends of a connection show each other that they have the token of one user (transport/user_token.h),
 *  without sending it: whoever listens at the port of a task may be another user's program.
 *
 *      connector                                               listener
 *      login, proof of (connector, address, login)  -------->  made since it listens there? right?
 *      right?                                       <--------  proof of (listener, address, login)
 *
 *  What was shown to somebody who had the port before is older than the listener, and what is shown at one address is
 *  not what another one asks for. */
#ifndef MUSTER_TRANSPORT_TOKEN_PROOF_H
#define MUSTER_TRANSPORT_TOKEN_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "transport/cluster_key.h"

enum { MST_TOKEN_LOGIN = 64 /* text, with its end */, MST_TOKEN_PROOF = 65 /* likewise */ };

/** Who shows that he has the token. */
typedef enum mst_token_side { MST_TOKEN_CONNECTOR, MST_TOKEN_LISTENER } mst_token_side;

/** A login: a name that no two connections have, made at NOW (base/clock.h, which all processes of a machine have in
 *  common). */
MST_CHECKED bool mst_token_login_make(int64_t now, char login[MST_TOKEN_LOGIN]);
/** When it was made; -1: it is no such name. */
int64_t mst_token_login_time(const char *login, size_t size);
/** What SIDE of the connection LOGIN to NUMERIC, "127.0.0.1:2222", shows. Nobody can make it without the token, and of
 *  no use is it for another connection or another address. */
void mst_token_prove(const mst_cluster_keys *keys, mst_token_side side, const char *numeric, const char *login,
                     char proof[MST_TOKEN_PROOF]);
/** Whether SHOWN, of SIZE bytes, is that. */
bool mst_token_is_proved(const mst_cluster_keys *keys, mst_token_side side, const char *numeric, const char *login,
                         const void *shown, size_t size);

#endif
