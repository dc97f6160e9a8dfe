import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import { SignInError } from "../platform/errors.ts";
import { toStorableText } from "../platform/storage/columns.ts";

/** Codes of responses that do not belong to the attempt. */
const mismatches = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

/** Explains a provider's error without repeating its text: some providers echo what they were sent. */
export function explainProviderError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  if (error instanceof AuthorizationResponseError) return explainRefusal(error.error);
  if (error instanceof ResponseBodyError) {
    return error.error === "invalid_grant" ? broken("invalid_grant") : unavailable(safeCode(error.error));
  }
  const code = error instanceof ClientError ? error.code : undefined;
  return code !== undefined && mismatches.has(code) ? broken(code) : unavailable(code ?? systemCodeOf(error));
}

/** Explains an error from before the sign-in started. */
export function explainDiscoveryError(error: unknown): SignInError {
  return unavailable(error instanceof ClientError && error.code ? error.code : systemCodeOf(error));
}

function explainRefusal(code: string): SignInError {
  if (code === "access_denied") return refused(code, "The identity provider refused the sign-in.");
  return code === "server_error" || code === "temporarily_unavailable"
    ? unavailable(code)
    : broken(safeCode(code));
}

function refused(reason: string, message: string): SignInError {
  return new SignInError("refused", reason, message);
}

function broken(reason: string): SignInError {
  return new SignInError(
    "broken_attempt",
    reason,
    "The identity provider's response does not belong to a sign-in that this browser started, or it arrived too late.",
  );
}

function unavailable(reason: string): SignInError {
  return new SignInError(
    "provider_unavailable",
    reason,
    "The identity provider is unavailable. API keys still work.",
  );
}

/** A code of the standard's form; anything else could be arbitrary text. */
function safeCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "other";
}

function systemCodeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return "unknown";
}

/** A person's claims from the provider. */
export interface Claims {
  readonly [claim: string]: unknown;
  readonly iss: string;
  readonly sub: string;
}

/** Who may sign in, and to which account. */
export interface SignInRules {
  allowedDomains: readonly string[] | undefined;
  accountClaim: string | undefined;
}

/** A person as Presage knows them. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string | null;
  name: string | null;
  accountName: string;
}

const defaultAccount = "default";
const maxAccountName = 200;
/** OpenID Connect Core, section 2. */
const maxSubject = 255;
/** 64 characters before the @ and 255 after it. */
const maxEmail = 320;
const maxName = 200;

/** Whether the ID token lacks claims that the provider's userinfo endpoint may have. */
export function lacksClaims(claims: Claims, { allowedDomains, accountClaim }: SignInRules): boolean {
  const wanted = ["email", "name"];
  if (allowedDomains !== undefined) wanted.push("email_verified");
  if (accountClaim !== undefined) wanted.push(accountClaim);
  return wanted.some((claim) => claims[claim] === undefined);
}

/** The identity that signs in; throws if it may not. Claims of the ID token take precedence over `userinfo`. */
export function identityOf(
  claims: Claims,
  userinfo: Readonly<Record<string, unknown>>,
  { allowedDomains, accountClaim }: SignInRules,
): Identity {
  if (!isStorable(claims.sub, maxSubject))
    throw refused(
      "unusable_subject",
      "Your user id at the identity provider is empty, too long or not valid text.",
    );
  const email = emailOf([claims, userinfo]);
  if (email !== undefined && !isStorable(email.address, maxEmail))
    throw refused(
      "unusable_email",
      "Your e-mail address at the identity provider is too long or not valid text.",
    );
  if (allowedDomains !== undefined) checkDomain(email, allowedDomains);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: email?.address ?? null,
    name: nameOf(claims.name) ?? nameOf(userinfo.name) ?? null,
    accountName:
      accountClaim === undefined ? defaultAccount : accountOf(claims[accountClaim] ?? userinfo[accountClaim]),
  };
}

interface Email {
  address: string;
  isVerified: boolean;
}

/** An address is verified only if the same source says so. */
function emailOf(sources: readonly Readonly<Record<string, unknown>>[]): Email | undefined {
  const emails = sources.flatMap(({ email, email_verified }): Email[] => {
    const address = textOf(email);
    return address === undefined ? [] : [{ address, isVerified: email_verified === true }];
  });
  return emails.find(({ isVerified }) => isVerified) ?? emails[0];
}

function checkDomain(email: Email | undefined, allowedDomains: readonly string[]): void {
  if (email === undefined)
    throw refused("no_email", "Your identity provider did not provide your e-mail address.");
  if (!email.isVerified)
    throw refused("unverified_email", "Your identity provider has not verified your e-mail address.");
  const domain = email.address.slice(email.address.lastIndexOf("@") + 1).toLowerCase();
  if (allowedDomains.includes(domain)) return;
  throw refused("domain_not_allowed", "The domain of your e-mail address is not allowed to sign in here.");
}

function accountOf(claim: unknown): string {
  const name = textOf(claim);
  if (name !== undefined && isStorable(name, maxAccountName)) return name;
  throw refused(
    "no_account",
    "Your identity provider does not say which account you belong to. Ask its administrator to add that.",
  );
}

/** A name is no identifier, so the part that can be stored is enough. */
function nameOf(value: unknown): string | undefined {
  const name = textOf(value);
  return name === undefined ? undefined : toStorableText(name, maxName);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** PostgreSQL cannot store lone surrogates or NUL. */
function isStorable(text: string, maxLength: number): boolean {
  return text !== "" && text.length <= maxLength && text.isWellFormed() && !text.includes("\0");
}
