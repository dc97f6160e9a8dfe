import { EncryptJWT, jwtDecrypt } from "jose";
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { z } from "zod";
import { SignInError } from "../platform/errors.ts";
import { readBodyWithin } from "../platform/limits/memory.ts";
import {
  explainDiscoveryError,
  explainProviderError,
  type Identity,
  identityOf,
  lacksClaims,
  type SignInRules,
} from "./openid-identity.ts";

const timeoutS = 5;
/** Many times what providers send about themselves, their keys or a person. */
const maxResponseBytes = 1_000_000;
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

export interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
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
  const isInsecureAllowed = server.protocol === "http:" && loopbackHosts.has(server.hostname);
  return await discovery(server, clientId, clientSecret, authenticateClient(clientSecret), {
    timeout: timeoutS,
    [customFetch]: fetchWithin,
    // Verifies ID tokens' signatures as well, although they come from the provider: a proxy may terminate TLS.
    execute: [enableNonRepudiationChecks, ...(isInsecureAllowed ? [allowInsecureRequests] : [])],
  });
}

/** Limits the response size, so that an endless response cannot exhaust the server's memory. */
const fetchWithin: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const body = await readBodyWithin(response, maxResponseBytes);
  if (body === undefined) throw new Error("The provider's response is too large");
  const { status, headers } = response;
  return new Response(body.length === 0 ? null : body, { status, headers });
};

/** With a method that the provider supports; the standard's default is the Authorization header. */
function authenticateClient(clientSecret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic") ? basic : post;
    authenticate(server, client, body, headers);
  };
}

/** How long a sign-in at the provider may take. */
export const attemptLifetimeS = 600;

/** What the browser remembers until the provider redirects it back. */
export const SignInAttempt = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
});
export type SignInAttempt = z.infer<typeof SignInAttempt>;

const scope = "openid email profile";
/** Longer tokens, for example with hundreds of groups, would make an address that servers refuse. */
const maxIdTokenHint = 4_000;

export interface OpenidProvider {
  /** The address where the browser signs in, and what must be remembered until it returns. */
  begin(returnTo: string): Promise<{ address: URL; attempt: SignInAttempt }>;
  /** Verifies the provider's response: the query of the callback address. */
  complete(attempt: SignInAttempt, query: string): Promise<{ identity: Identity; idToken: string }>;
  /** The address where the browser signs out of the provider; undefined if it has none or is unavailable. */
  endSessionAddress(idToken: string | undefined): Promise<URL | undefined>;
}

export interface OpenidProviderSettings extends ProviderSettings {
  /** Where the provider redirects the browser after sign-in. */
  callbackUrl: string;
  /** Where it redirects the browser after sign-out. */
  signedOutUrl: string;
  rules: SignInRules;
}

export function createOpenidProvider(settings: OpenidProviderSettings): OpenidProvider {
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
    async begin(returnTo) {
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

    async complete({ state, nonce, codeVerifier }, query) {
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

    async endSessionAddress(idToken) {
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

/** Encrypts an attempt, so that the browser that stores it can neither read nor change it. */
export type AttemptSeal = ReturnType<typeof createAttemptSeal>;

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
