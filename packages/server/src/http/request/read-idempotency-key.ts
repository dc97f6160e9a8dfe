import { createHash } from "node:crypto";
import type { Once } from "../../storage/idempotency/once.ts";
import { type CallWithCaller, requestAddress } from "../pipeline/route.ts";
import { InvalidRequestError } from "./validate.ts";

/** The caller's word by which a second try of the same request is known. */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null || /^[!-~]{1,200}$/.test(key)) return key ?? undefined;
  const msg = "Value error, Input should be 1 to 200 visible ASCII characters";
  throw new InvalidRequestError([
    { type: "value_error", loc: ["header", "idempotency-key"], msg, input: key },
  ]);
}

/** What a request is known by, if its caller wants it done once: the user, the operation and the key; where it goes and its body. */
export function readOnce(
  { request, caller: { accountId, userId } }: CallWithCaller,
  operation: string,
  body: unknown,
): Once | undefined {
  const key = readIdempotencyKey(request.headers);
  if (key === undefined) return undefined;
  return {
    id: digestOf([accountId, userId, operation, key]),
    requestDigest: digestOf([requestAddress(request).pathname, body]),
  };
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}
