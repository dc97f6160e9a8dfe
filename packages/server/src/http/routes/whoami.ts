import type { WhoAmIResponse } from "@presage/contract";
import { ServiceError } from "../../errors.ts";
import type { Account } from "../../identity/accounts-store.ts";
import { type Route, withKey } from "../route.ts";

export function whoAmIRoutes(findAccount: (accountId: string) => Promise<Account | undefined>): Route[] {
  return [
    withKey("GET", "/v1/whoami", async ({ caller }) => {
      const account = await findAccount(caller.accountId);
      if (account === undefined) {
        throw new ServiceError("not_found", "The account of this key does not exist any more.");
      }
      const { id, name } = account;
      const answer: WhoAmIResponse = { caller: { api_key: { id: caller.keyId, account: { id, name } } } };
      return Response.json(answer);
    }),
  ];
}
