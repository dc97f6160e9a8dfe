import { ServiceError } from "../errors.ts";
import type { Caller, KeyVerifier } from "../identity/api-keys/verify-api-key.ts";

/** One text for every refusal: a caller learns nothing about which keys exist. */
const refusal = "A valid API key is needed, as X-API-KEY or as a bearer token.";

/** Says whose key a request carries, or refuses it. */
export async function authenticate(verifier: KeyVerifier, headers: Headers): Promise<Caller> {
  const key = presentedKey(headers);
  const caller = key === undefined ? undefined : await verifier.verify(key);
  if (caller === undefined) throw new ServiceError("unauthenticated", refusal);
  return caller;
}

/** The key of either header; two headers with different keys are as good as none. */
function presentedKey(headers: Headers): string | undefined {
  const apiKey = headers.get("x-api-key");
  const authorization = headers.get("authorization");
  const bearer = authorization === null ? undefined : /^Bearer +(.*)$/i.exec(authorization)?.[1];
  if (apiKey !== null && bearer !== undefined && apiKey !== bearer) return undefined;
  return apiKey ?? bearer;
}
