import type { MeResponse } from "@presage/contract";
import { Hono } from "hono";
import { ServiceError } from "../../errors.ts";
import type { User } from "../../identity/users-store.ts";
import type { HttpEnv } from "../exchange.ts";

export function meRoutes(findUser: (userId: string) => Promise<User | undefined>) {
  return new Hono<HttpEnv>().get("/v1/me", async (c) => {
    const user = await findUser(c.get("caller").userId);
    if (user === undefined)
      throw new ServiceError("not_found", "The user of this key does not exist any more.");
    const { id, email, name, oidc_issuer, oidc_subject } = user;
    return Response.json({ id, email, name, oidc_issuer, oidc_subject } satisfies MeResponse);
  });
}
