import type { Identity } from "../../../identity/openid/identity-of.ts";
import type { OpenidProvider } from "../../../identity/openid/openid-provider.ts";
import { SignInError } from "../../../identity/openid/sign-in-error.ts";
import { openPage, type Route } from "../../pipeline/route.ts";
import { readReturnTo } from "../../pipeline/sign-in-address.ts";
import { requestAddress } from "../../request/request-address.ts";
import type { AttemptCookie } from "./attempt-cookie.ts";
import { rotateSession, type SessionKeeper } from "./rotate-session.ts";
import { openidSignInPage } from "./sign-in-page.ts";

export interface OpenidSignIn {
  issuer: string;
  /** The origin that the provider sends browsers back to. */
  publicUrl: string;
  provider: Pick<OpenidProvider, "begin" | "complete">;
  attempts: AttemptCookie;
  /** Makes or updates the user and returns their id. */
  rememberUser(identity: Identity): Promise<string>;
}

/** Sign-in at an OpenID provider: the browser goes there from `/auth/sign-in` and comes back to `/auth/callback`. */
export function openidSignInRoutes(
  { issuer, publicUrl, provider, attempts, rememberUser }: OpenidSignIn,
  sessions: SessionKeeper,
): Route[] {
  return [
    openPage("/sign-in", ({ request }) => {
      const url = requestAddress(request);
      // A browser that came by another name of this host would come back without its cookie.
      const href = `${publicUrl}/auth/sign-in?return_to=${encodeURIComponent(readReturnTo(url))}`;
      return openidSignInPage({ issuer, href, isSignedOut: url.searchParams.has("signed_out") });
    }),
    openPage("/auth/sign-in", async ({ request }) => {
      const { address, attempt } = await provider.begin(readReturnTo(requestAddress(request)));
      return redirect(address.href, await attempts.give(request.headers, attempt));
    }),
    openPage("/auth/callback", async ({ request }) => {
      const { search, searchParams } = requestAddress(request);
      const state = searchParams.get("state") ?? "";
      const attempt = await attempts.read(request.headers, state);
      if (attempt === undefined) {
        throw new SignInError(
          "broken_attempt",
          "unknown_attempt",
          "This sign-in was not begun in this browser, was used already, or took longer than ten minutes.",
        );
      }
      const { identity, idToken } = await provider.complete(attempt, search);
      const userId = await rememberUser(identity);
      const setCookie = await rotateSession(sessions, request, (browser) =>
        sessions.startSession({ userId, idToken }, browser),
      );
      return redirect(attempt.returnTo, [setCookie, attempts.take(state)]);
    }),
  ];
}

function redirect(location: string, cookies: string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}
