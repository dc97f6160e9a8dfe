import { ApiKeyCreateRequest } from "@presage/contract";
import { similarName } from "../../../similar-name.ts";
import { valueError } from "../../request/pydantic-issues.ts";
import { InvalidRequestError } from "../../request/validate.ts";

/** The header with the names in a request that have no effect. */
export const ignoredHeader = "x-presage-ignored";

type Field = keyof ApiKeyCreateRequest;

/** What other services call the fields that restrict a key; null: what no key has. */
const synonyms: Readonly<Record<string, Field | null>> = {
  permission: "scopes",
  permissions: "scopes",
  role: "scopes",
  roles: "scopes",
  expires: "expires_at",
  expiration: "expires_at",
  expiry: "expires_at",
  ttl: "expires_at",
  rate_limit: "rate_limit_rpm",
  user_id: null,
  account_id: null,
};

/** A misspelt `name` is missing anyway, and many words are close to it. */
const restricting = Object.keys(ApiKeyCreateRequest.shape).filter((field) => field !== "name");
/** With three, `notes` would be close to `scopes`. */
const maxEdits = 2;
const maxNames = 20;
const maxCharacters = 100;

/**
 * The header for names in the body of a new key that have no effect, of at most 20 names; none if there are no such names. Refuses those that stand
 * for a restriction: without it the key could do more than was meant.
 */
export function ignoredNames(body: object): Record<string, string> {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(ApiKeyCreateRequest.shape, name));
  const issues = unknown.flatMap((name) => {
    const hint = hintFor(name);
    return hint === undefined ? [] : [valueError(["body", name], hint, Reflect.get(body, name))];
  });
  if (issues.length > 0) throw new InvalidRequestError(issues);
  if (unknown.length === 0) return {};
  const named = unknown.slice(0, maxNames).map((name) => name.slice(0, maxCharacters).toWellFormed());
  return { [ignoredHeader]: named.map(encodeURIComponent).join(", ") };
}

function hintFor(name: string): string | undefined {
  const known = Object.hasOwn(synonyms, name) ? synonyms[name] : similarName(name, restricting, maxEdits);
  if (known === undefined) return undefined;
  if (known === null) return `A key has no ${name}: a key acts as the user who creates it`;
  return `A key has no ${name}; did you mean ${known}?`;
}
