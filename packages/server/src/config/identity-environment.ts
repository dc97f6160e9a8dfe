import { Role } from "@presage/contract";
import { z } from "zod";
import { domains, expectedUrl, issuerUrl, text, wholeNumber } from "./environment-values.ts";

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
  PRESAGE_OIDC_ISSUER: issuerUrl.optional().meta({
    description: "OpenID provider that users sign in with; if not set, the server is in local mode",
    expected: expectedUrl,
  }),
  PRESAGE_OIDC_CLIENT_ID: text
    .optional()
    .meta({ description: "client id of this server at the OpenID provider", expected: "text" }),
  PRESAGE_OIDC_CLIENT_SECRET: text
    .optional()
    .meta({ description: "client secret of this server at the OpenID provider", expected: "text" }),
  PRESAGE_OIDC_ALLOWED_DOMAINS: domains.optional().meta({
    description:
      "only users with a verified e-mail address in one of these domains may sign in; * allows every user of the provider",
    expected: "domains separated by commas, for example example.org,example.com, or *",
  }),
  PRESAGE_OIDC_ACCOUNT_CLAIM: text.optional().meta({
    description:
      "claim that names a user's account; if not set, every user is in the owner's account, named default",
    expected: "text",
  }),
  PRESAGE_NEW_USER_ROLE: z
    .enum(Role.options)
    .default("member")
    .meta({
      description:
        "role of a user who signs in for the first time; the first user of an account is always an owner",
      expected: Role.options.join(", "),
    }),
  PRESAGE_SESSION_IDLE_MINUTES: wholeNumber(1, yearMinutes)
    .default(720)
    .meta({
      description: "idle session lifetime in minutes",
      expected: `a whole number of minutes from 1 to ${yearMinutes}`,
    }),
  PRESAGE_SESSION_MAX_HOURS: wholeNumber(1, yearHours)
    .default(168)
    .meta({
      description: "absolute session lifetime in hours",
      expected: `a whole number of hours from 1 to ${yearHours}`,
    }),
} as const;

/** Variables whose values are never printed. */
export const secretIdentityNames = ["PRESAGE_BOOTSTRAP_KEY", "PRESAGE_OIDC_CLIENT_SECRET"] as const;

/** Sign-in with an OpenID provider needs all three. */
export const oidcNames = [
  "PRESAGE_OIDC_ISSUER",
  "PRESAGE_OIDC_CLIENT_ID",
  "PRESAGE_OIDC_CLIENT_SECRET",
] as const;
