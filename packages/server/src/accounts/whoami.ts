import type { WhoAmIResponse } from "@presage/contract";
import type { Services } from "../app/services.ts";
import type { Caller } from "../http/caller.ts";
import { type Route, withCaller } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Account, selectAccount } from "./users-store.ts";

export function whoAmIRoutes({ store }: Services): Route[] {
  return [
    withCaller("GET", "/v1/whoami", "nothing", async ({ caller }) => {
      const account = await selectAccount(store.database, caller.accountId);
      if (account === undefined) {
        throw new ServiceError("not_found", "The caller's account no longer exists.");
      }
      const { id, name } = account;
      return Response.json(toResponse(caller, { id, name }));
    }),
  ];
}

function toResponse({ role, proof }: Caller, account: Account): WhoAmIResponse {
  if (proof.kind === "command_line") return { caller: {} };
  return proof.kind === "key"
    ? { caller: { api_key: { id: proof.keyId, account, role, scopes: proof.scopes && [...proof.scopes] } } }
    : { caller: { session: { id: proof.sessionId, account, role } } };
}
