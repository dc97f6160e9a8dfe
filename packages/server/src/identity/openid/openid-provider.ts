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
import { createDiscovery, type ProviderSettings } from "./discover-provider.ts";
import { explainDiscoveryError, explainProviderError } from "./explain-provider-error.ts";
import { type Identity, identityOf, lacksClaims, type SignInRules } from "./identity-of.ts";
import type { SignInAttempt } from "./sign-in-attempt.ts";
import { SignInError } from "./sign-in-error.ts";

const scope = "openid email profile";
/** A longer one, of somebody in hundreds of groups, makes an address that servers refuse. */
const longestIdTokenHint = 4_000;

export interface OpenidProvider {
  /** Where the browser goes to sign in, and what must be remembered until it comes back. */
  begin(returnTo: string): Promise<{ address: URL; attempt: SignInAttempt }>;
  /** Checks the provider's answer, the query of the address that it sent the browser to. */
  complete(attempt: SignInAttempt, query: string): Promise<{ identity: Identity; idToken: string }>;
  /** Where the browser goes to sign out there too; undefined if the provider does not say where or cannot be reached. */
  endSessionAddress(idToken: string | undefined): Promise<URL | undefined>;
}

export interface OpenidProviderSettings extends ProviderSettings {
  /** Where the provider sends the browser back to. */
  callbackUrl: string;
  /** Where it sends the browser after it signed out. */
  signedOutUrl: string;
  rules: SignInRules;
}

export function createOpenidProvider(settings: OpenidProviderSettings): OpenidProvider {
  const { callbackUrl, signedOutUrl, rules } = settings;
  const discover = createDiscovery(settings);

  async function discovered<Answer>(read: (config: Configuration) => Answer): Promise<Answer> {
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
        const mayAsk = config.serverMetadata().userinfo_endpoint !== undefined;
        const told =
          mayAsk && lacksClaims(claims, rules)
            ? await fetchUserInfo(config, tokens.access_token, claims.sub)
            : {};
        return { identity: identityOf(claims, told, rules), idToken: tokens.id_token };
      } catch (error) {
        throw explainProviderError(error);
      }
    },

    async endSessionAddress(idToken) {
      const parameters = {
        post_logout_redirect_uri: signedOutUrl,
        ...(idToken === undefined || idToken.length > longestIdTokenHint ? {} : { id_token_hint: idToken }),
      };
      return await discover()
        .then((config) => buildEndSessionUrl(config, parameters))
        .catch(() => undefined);
    },
  };
}

function noIdToken(): SignInError {
  return new SignInError("provider_unavailable", "no_id_token", "The identity provider sent no ID token.");
}
