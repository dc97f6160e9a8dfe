import { createMiddleware } from "hono/factory";
import { ServiceError } from "../errors.ts";
import type { KeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import type { HttpEnv } from "./exchange.ts";

/** One text for every refusal: a caller learns nothing about which keys exist. */
const refusal = "A valid API key is needed, as X-API-KEY or as a bearer token.";

/** Lets a request through if it carries a key that is good, and says whose it is. */
export function authenticate(verifier: KeyVerifier) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const key = presentedKey(c.req.raw.headers);
    const caller = key === undefined ? undefined : await verifier.verify(key);
    if (caller === undefined) throw new ServiceError("unauthenticated", refusal);
    c.set("caller", caller);
    c.get("exchange").keyId = caller.keyId;
    await next();
  });
}

/** The key of either header; two headers with different keys are as good as none. */
function presentedKey(headers: Headers): string | undefined {
  const apiKey = headers.get("x-api-key") ?? undefined;
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (apiKey !== undefined && bearer !== undefined && apiKey !== bearer) return undefined;
  return apiKey ?? bearer;
}
