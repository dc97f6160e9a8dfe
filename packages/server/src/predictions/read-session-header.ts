import { valueError } from "../http/pydantic-issues.ts";
import { InvalidRequestError } from "../http/validate.ts";
import type { CompletionOptions } from "../upstream/upstream.ts";

/** The second is that of SGLang's gateway. */
const sessionHeaders = ["x-session-id", "x-smg-routing-key"];
const usable = /^[!-~]{1,256}$/;

/** The header that says which requests are of one trajectory; undefined if none is sent. */
export function readSessionHeader(headers: Headers): CompletionOptions["session"] {
  for (const name of sessionHeaders) {
    const value = headers.get(name);
    if (value === null) continue;
    if (usable.test(value)) return { name, value };
    throw refusedHeader(name, "Input should be 1 to 256 visible ASCII characters", value);
  }
  return undefined;
}

/** A request with a header that cannot be used. */
export function refusedHeader(header: string, error: string, value: string): InvalidRequestError {
  return new InvalidRequestError([valueError(["header", header], error, value)]);
}
