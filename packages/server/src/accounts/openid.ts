import { EncryptJWT, jwtDecrypt } from "jose";
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { z } from "zod";
import { SignInError } from "../platform/errors.ts";
import { readBodyWithin } from "../platform/limits/memory.ts";
import { toStorableText } from "../platform/storage/columns.ts";

const timeoutS = 5;
/** Many times the size of what providers send about themselves, their keys or a person. */
const maxResponseBytes = 1_000_000;
/** How long a sign-in at the provider may take. */
export const attemptLifetimeS = 600;
/** Longer tokens, for example with hundreds of groups, would make a URL that servers refuse. */
const maxIdTokenHint = 4_000;
const scope = "openid email profile";

interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

interface OpenidProviderSettings extends ProviderSettings {
  /** Where the provider redirects the browser after sign-in. */
  callbackUrl: string;
  /** Where the provider redirects the browser after sign-out. */
  signedOutUrl: string;
  rules: SignInRules;
}

/** What the browser remembers until the provider redirects it back. */
export const SignInAttempt = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
});

export type SignInAttempt = z.infer<typeof SignInAttempt>;

export type OpenidProvider = ReturnType<typeof createOpenidProvider>;

/** Encrypts an attempt, so that the browser that stores it can neither read nor change it. */
export type AttemptSeal = ReturnType<typeof createAttemptSeal>;

/** A person's claims from the provider. */
interface Claims {
  readonly [claim: string]: unknown;
  readonly iss: string;
  readonly sub: string;
}

/** Who may sign in, and to which account. */
interface SignInRules {
  allowedDomains: readonly string[] | undefined;
  accountClaim: string | undefined;
}

/** A person's identity as Presage knows it. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string | null;
  name: string | null;
  accountName: string;
}

export function createOpenidProvider(settings: OpenidProviderSettings) {
  const { callbackUrl, signedOutUrl, rules } = settings;
  const discover = createDiscovery(settings);

  async function discovered<Result>(read: (config: Configuration) => Result): Promise<Result> {
    try {
      return read(await discover());
    } catch (error) {
      throw explainDiscoveryError(error);
    }
  }

  return {
    /** The address where the browser signs in, and what must be remembered until it returns. */
    async begin(returnTo: string): Promise<{ address: URL; attempt: SignInAttempt }> {
      const attempt = {
        state: randomState(),
        nonce: randomNonce(),
        codeVerifier: randomPKCECodeVerifier(),
        returnTo,
      };
      const parameters = {
        redirect_uri: callbackUrl,
        scope,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await calculatePKCECodeChallenge(attempt.codeVerifier),
        code_challenge_method: "S256",
      };
      return { address: await discovered((config) => buildAuthorizationUrl(config, parameters)), attempt };
    },

    /** Verifies the provider's response: the query of the callback address. */
    async complete({ state, nonce, codeVerifier }: SignInAttempt, query: string) {
      const config = await discovered((found) => found);
      try {
        const tokens = await authorizationCodeGrant(config, new URL(callbackUrl + query), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined || tokens.id_token === undefined) throw noIdToken();
        const hasUserinfo = config.serverMetadata().userinfo_endpoint !== undefined;
        const userinfo =
          hasUserinfo && lacksClaims(claims, rules)
            ? await fetchUserInfo(config, tokens.access_token, claims.sub)
            : {};
        return { identity: identityOf(claims, userinfo, rules), idToken: tokens.id_token };
      } catch (error) {
        throw explainProviderError(error);
      }
    },

    /** The address where the browser signs out of the provider; undefined if it has none or is unavailable. */
    async endSessionAddress(idToken: string | undefined): Promise<URL | undefined> {
      const parameters = {
        post_logout_redirect_uri: signedOutUrl,
        ...(idToken === undefined || idToken.length > maxIdTokenHint ? {} : { id_token_hint: idToken }),
      };
      return await discover()
        .then((config) => buildEndSessionUrl(config, parameters))
        .catch(() => undefined);
    },
  };
}

function noIdToken(): SignInError {
  return new SignInError(
    "provider_unavailable",
    "no_id_token",
    "The identity provider did not send an ID token.",
  );
}

export function createAttemptSeal(secret: string) {
  const key = new Bun.CryptoHasher("sha256", secret).update("sign-in attempt").digest();
  const [alg, enc] = ["dir", "A256GCM"];
  return {
    lifetimeS: attemptLifetimeS,
    async close(attempt: SignInAttempt): Promise<string> {
      return await new EncryptJWT(attempt)
        .setProtectedHeader({ alg, enc })
        .setExpirationTime(`${attemptLifetimeS} seconds`)
        .encrypt(key);
    },
    /** Undefined if it is too old or was not sealed with this secret. */
    async open(sealed: string): Promise<SignInAttempt | undefined> {
      const options = {
        keyManagementAlgorithms: [alg],
        contentEncryptionAlgorithms: [enc],
        requiredClaims: ["exp"],
      };
      const opened = await jwtDecrypt(sealed, key, options).catch(() => undefined);
      return SignInAttempt.safeParse(opened?.payload).data;
    },
  };
}

/** Loads the provider's metadata when it is first needed and keeps it. A failed attempt is repeated by the next call. */
export function createDiscovery(settings: ProviderSettings): () => Promise<Configuration> {
  let discovered: Promise<Configuration> | undefined;
  return async () => {
    discovered ??= discoverProvider(settings).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return await discovered;
  };
}

async function discoverProvider({
  issuer,
  clientId,
  clientSecret,
}: ProviderSettings): Promise<Configuration> {
  const server = new URL(issuer);
  // The configuration accepts plain http on this machine only.
  const isInsecureAllowed = server.protocol === "http:";
  const configuration = await discovery(server, clientId, clientSecret, authenticateClient(clientSecret), {
    timeout: timeoutS,
    [customFetch]: fetchWithin,
    // Verifies ID tokens' signatures as well, although they come straight from the provider: a proxy may terminate TLS.
    execute: [enableNonRepudiationChecks, ...(isInsecureAllowed ? [allowInsecureRequests] : [])],
  });
  const stated = configuration.serverMetadata().issuer;
  // URLs are equal with or without a trailing slash; tokens and stored users have the exact text. Entra's has a placeholder for the tenant.
  if (stated !== issuer && !stated.includes("{tenantid}")) throw unavailable(`it calls itself ${stated}`);
  return configuration;
}

/** Limits the response size, so that an endless response cannot exhaust the server's memory. */
const fetchWithin: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const body = await readBodyWithin(response, maxResponseBytes);
  if (body === undefined) throw new Error("The provider's response is too large");
  const { status, headers } = response;
  return new Response(body.length === 0 ? null : body, { status, headers });
};

/** Authenticates with a method that the provider supports; the standard's default is the Authorization header. */
function authenticateClient(clientSecret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic") ? basic : post;
    authenticate(server, client, body, headers);
  };
}

/** Error codes of responses that do not belong to the attempt. */
const mismatches = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

/** Explains a provider's error without repeating its text: some providers echo what they were sent. */
function explainProviderError(error: unknown): SignInError {
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
  if (error instanceof SignInError) return error;
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

/** Returns only codes in the form that the standard gives; anything else could be arbitrary text. */
function safeCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "other";
}

function systemCodeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return "unknown";
}

const defaultAccount = "default";
const maxAccountName = 200;
/** OpenID Connect Core, section 2. */
const maxSubject = 255;
/** 64 characters before the @ and 255 after. */
const maxEmail = 320;
const maxName = 200;

/** Whether the ID token lacks claims that the provider's userinfo endpoint may have. */
function lacksClaims(claims: Claims, { allowedDomains, accountClaim }: SignInRules): boolean {
  const wanted = ["email", "name"];
  if (allowedDomains !== undefined) wanted.push("email_verified");
  if (accountClaim !== undefined) wanted.push(accountClaim);
  return wanted.some((claim) => claims[claim] === undefined);
}

/** The identity that signs in; throws if it may not. Claims of the ID token take precedence over `userinfo`. */
function identityOf(
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
  if (name === defaultAccount)
    throw refused(
      "no_account",
      `Your identity provider says that you belong to the account ${defaultAccount}, which is the operator's. Ask its administrator for another name.`,
    );
  if (name !== undefined && isStorable(name, maxAccountName)) return name;
  throw refused(
    "no_account",
    "Your identity provider does not say which account you belong to. Ask its administrator to add the account claim.",
  );
}

/** A name identifies nobody, so the part that can be stored is enough. */
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
