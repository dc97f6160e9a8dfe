import { Role } from "@presage/contract";
import { z } from "zod";
import { domains, issuerUrl, oneOf, text, wholeNumber } from "./environment-values.ts";

const yearHours = 8_760;
const yearMinutes = 525_600;

/** Who may use Presage: the first key, sign-in, and sessions. */
export const identityVariables = {
  PRESAGE_BOOTSTRAP_KEY: z
    .string()
    .regex(/^[!-~]{32,512}$/)
    .optional()
    .meta({
      description: "an API key, at least 32 characters, that exists from the first start",
      expected: "32 to 512 visible ASCII characters",
    }),
  PRESAGE_OIDC_ISSUER: issuerUrl
    .optional()
    .describe("OpenID provider that users sign in with; if not set, the server is in local mode"),
  PRESAGE_OIDC_CLIENT_ID: text.optional().describe("client id of this server at the OpenID provider"),
  PRESAGE_OIDC_CLIENT_SECRET: text.optional().describe("client secret of this server at the OpenID provider"),
  PRESAGE_OIDC_ALLOWED_DOMAINS: domains
    .optional()
    .describe(
      "only users with a verified e-mail address in one of these domains may sign in; * allows every user of the provider",
    ),
  PRESAGE_OIDC_ACCOUNT_CLAIM: text
    .optional()
    .describe(
      "claim that names a user's account; if not set, every user is in the owner's account, named default",
    ),
  PRESAGE_NEW_USER_ROLE: oneOf(Role.options)
    .default("member")
    .describe(
      "role of a user who signs in for the first time; the first user of an account is always an owner",
    ),
  PRESAGE_SESSION_IDLE_MINUTES: wholeNumber(1, yearMinutes, "minutes")
    .default(720)
    .describe("idle session lifetime in minutes"),
  PRESAGE_SESSION_MAX_HOURS: wholeNumber(1, yearHours, "hours")
    .default(168)
    .describe("absolute session lifetime in hours"),
} as const;

/** Variables whose values are never printed. */
export const secretIdentityNames = ["PRESAGE_BOOTSTRAP_KEY", "PRESAGE_OIDC_CLIENT_SECRET"] as const;

/** Sign-in with an OpenID provider needs all three. */
export const oidcNames = [
  "PRESAGE_OIDC_ISSUER",
  "PRESAGE_OIDC_CLIENT_ID",
  "PRESAGE_OIDC_CLIENT_SECRET",
] as const;
