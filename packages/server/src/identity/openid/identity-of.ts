import { SignInError } from "./sign-in-error.ts";

/** What a provider says of a person. */
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
const longestAccountName = 200;
/** OpenID Connect Core, section 2. */
const longestSubject = 255;
/** 64 before the @ and 255 after it. */
const longestEmail = 320;
const longestName = 200;

/** Whether the ID token leaves out something that the provider may tell when it is asked. */
export function lacksClaims(claims: Claims, { allowedDomains, accountClaim }: SignInRules): boolean {
  const wanted = ["email", "name"];
  if (allowedDomains !== undefined) wanted.push("email_verified");
  if (accountClaim !== undefined) wanted.push(accountClaim);
  return wanted.some((claim) => claims[claim] === undefined);
}

/** Who signs in, or a refusal. What the ID token says counts before what the provider told when it was asked. */
export function identityOf(
  claims: Claims,
  told: Readonly<Record<string, unknown>>,
  { allowedDomains, accountClaim }: SignInRules,
): Identity {
  if (!isStorable(claims.sub, longestSubject)) {
    throw new SignInError(
      "refused",
      "unusable_subject",
      "The identifier by which your identity provider knows you is empty, too long or no valid text.",
    );
  }
  const email = emailOf([claims, told]);
  if (email !== undefined && !isStorable(email.address, longestEmail)) {
    throw new SignInError(
      "refused",
      "unusable_email",
      "The e-mail address that your identity provider tells of you is too long or no valid text.",
    );
  }
  if (allowedDomains !== undefined) checkDomain(email, allowedDomains);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: email?.address ?? null,
    name: nameOf(claims.name) ?? nameOf(told.name) ?? null,
    accountName:
      accountClaim === undefined ? defaultAccount : accountOf(claims[accountClaim] ?? told[accountClaim]),
  };
}

interface Email {
  address: string;
  isVerified: boolean;
}

/** An address counts as verified only by the word of the very source that names it. */
function emailOf(sources: readonly Readonly<Record<string, unknown>>[]): Email | undefined {
  const emails = sources.flatMap(({ email, email_verified }): Email[] => {
    const address = textOf(email);
    return address === undefined ? [] : [{ address, isVerified: email_verified === true }];
  });
  return emails.find(({ isVerified }) => isVerified) ?? emails[0];
}

function checkDomain(email: Email | undefined, allowedDomains: readonly string[]): void {
  if (email === undefined) {
    throw new SignInError("refused", "no_email", "Your identity provider tells no e-mail address of you.");
  }
  if (!email.isVerified) {
    throw new SignInError(
      "refused",
      "unverified_email",
      "Your identity provider has not verified your e-mail address.",
    );
  }
  const domain = email.address.slice(email.address.lastIndexOf("@") + 1).toLowerCase();
  if (allowedDomains.includes(domain)) return;
  throw new SignInError(
    "refused",
    "domain_not_allowed",
    "People with an e-mail address of your domain may not sign in here.",
  );
}

function accountOf(claim: unknown): string {
  const name = textOf(claim);
  if (name !== undefined && isStorable(name, longestAccountName)) return name;
  throw new SignInError(
    "refused",
    "no_account",
    "Your identity provider does not say which account you belong to. Whoever runs it can add that.",
  );
}

/** A name tells nobody from anybody, so that what of it can be kept is kept. */
function nameOf(value: unknown): string | undefined {
  return textOf(value)?.slice(0, longestName).toWellFormed().replaceAll("\0", "\ufffd");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** PostgreSQL keeps neither a half of a surrogate pair nor a NUL. */
function isStorable(text: string, maxLength: number): boolean {
  return text !== "" && text.length <= maxLength && text.isWellFormed() && !text.includes("\0");
}
