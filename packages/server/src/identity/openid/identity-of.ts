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
  const email = emailOf([claims, told]);
  if (allowedDomains !== undefined) checkDomain(email, allowedDomains);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: email?.address ?? null,
    name: textOf(claims.name) ?? textOf(told.name) ?? null,
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
  if (name !== undefined && name.length <= longestAccountName) return name;
  throw new SignInError(
    "refused",
    "no_account",
    "Your identity provider does not say which account you belong to. Whoever runs it can add that.",
  );
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  // PostgreSQL keeps neither half a character nor a zero.
  return value.toWellFormed().replaceAll("\0", "\ufffd");
}
