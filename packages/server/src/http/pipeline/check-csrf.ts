import { timingSafeEqual } from "node:crypto";
import { ServiceError } from "../../errors.ts";

/** Refuses a changing call that was made with a session, unless a page of the session proves that it makes it. */
export function checkCsrf({ method, headers }: Request, csrfToken: string): void {
  if (method === "GET" || method === "HEAD") return;
  if (isSameOrigin(headers) && isSame(headers.get("x-csrf-token"), csrfToken)) return;
  throw new ServiceError(
    "forbidden",
    "A changing call with a session needs its page's token, as X-CSRF-Token. Reload the page and try again.",
  );
}

/** Whether the browser says that its own page makes the call, or, like an old one, says nothing. */
export function isSameOrigin(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  return site === null || site === "same-origin" || site === "none";
}

/** Takes as long for a token that is nearly right as for any other of its length. */
function isSame(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
