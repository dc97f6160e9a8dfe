import { ApiKeyCreateRequest } from "@presage/contract";
import { valueError } from "../http/pydantic-issues.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { similarName } from "../platform/similar-name.ts";

/** What other services call what restricts a key, and what to say of it. */
const hints = new Map([
  ["permissions", "did you mean scopes?"],
  ["role", "did you mean scopes?"],
  ["expires", "did you mean expires_at?"],
  ["expiry", "did you mean expires_at?"],
  ["expiration", "did you mean expires_at?"],
  ["ttl", "did you mean expires_at?"],
  ["rate_limit", "did you mean rate_limit_rpm?"],
  ["user_id", "a key acts as the user who creates it"],
  ["account_id", "a key acts as the user who creates it"],
]);

/** A misspelt `name` is missing anyway, and many words are close to it. */
const restricting = Object.keys(ApiKeyCreateRequest.shape).filter((field) => field !== "name");
/** With three, `notes` would be close to `scopes`. */
const maxEdits = 2;
/** Plural, or without `_`. With two, `note` would be close to `role`. */
const maxEditsOfHints = 1;
const maxNames = 20;
const maxCharacters = 100;

/**
 * A header with up to 20 names in a new key's body that have no effect; none if there are none. Refuses those that stand for a
 * restriction: without it the key could do more than was meant.
 */
export function ignoredNames(body: object): Record<string, string> {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(ApiKeyCreateRequest.shape, name));
  const issues = unknown.flatMap((name) => {
    const hint = hintFor(name);
    return hint === undefined ? [] : [valueError(["body", name], hint, Reflect.get(body, name))];
  });
  if (issues.length > 0) throw new InvalidRequestError(issues);
  const named = unknown.slice(0, maxNames).map((name) => name.slice(0, maxCharacters).toWellFormed());
  return named.length === 0 ? {} : { "x-presage-ignored": named.map(encodeURIComponent).join(", ") };
}

function hintFor(name: string): string | undefined {
  const similar = similarName(name, restricting, maxEdits);
  const hinted = similarName(name, [...hints.keys()], maxEditsOfHints);
  return hints.get(hinted ?? "") ?? (similar && `did you mean ${similar}?`);
}
