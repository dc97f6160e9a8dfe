import { createHash } from "node:crypto";
import type { Once } from "../../storage/idempotency/once.ts";
import { type CallWithCaller, requestAddress } from "../pipeline/route.ts";
import { InvalidRequestError } from "./validate.ts";

/** The client's name for a request, by which a retry is recognised. */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null || /^[!-~]{1,200}$/.test(key)) return key ?? undefined;
  const msg = "Value error, Input should be 1 to 200 visible ASCII characters";
  throw new InvalidRequestError([
    { type: "value_error", loc: ["header", "idempotency-key"], msg, input: key },
  ]);
}

/** Identifies a request that is to be done once by its user, operation and key, and its content by its path and body. */
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
