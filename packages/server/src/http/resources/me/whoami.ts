import type { WhoAmIResponse } from "@presage/contract";
import { ServiceError } from "../../../errors.ts";
import type { Proof } from "../../../identity/caller.ts";
import { type Account, selectAccount } from "../../../identity/users/users-store.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import type { Services } from "../../services.ts";

export function whoAmIRoutes({ store }: Services): Route[] {
  return [
    withCaller("GET", "/v1/whoami", async ({ caller }) => {
      const account = await selectAccount(store.database, caller.accountId);
      if (account === undefined) {
        throw new ServiceError("not_found", "The caller's account no longer exists.");
      }
      const { id, name } = account;
      return Response.json(toResponse(caller.proof, { id, name }));
    }),
  ];
}

function toResponse(proof: Proof, account: Account): WhoAmIResponse {
  return proof.kind === "key"
    ? { caller: { api_key: { id: proof.keyId, account } } }
    : { caller: { session: { id: proof.sessionId, account } } };
}
