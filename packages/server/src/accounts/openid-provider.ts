import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { SignInError } from "../platform/sign-in-error.ts";
import { createDiscovery, type ProviderSettings } from "./discover-provider.ts";
import { explainDiscoveryError, explainProviderError } from "./explain-provider-error.ts";
import { type Identity, identityOf, lacksClaims, type SignInRules } from "./identity-of.ts";
import type { SignInAttempt } from "./sign-in-attempt.ts";

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
