import type { Services } from "../app/services.ts";
import { openPage, openRedirect, type Route, requestAddress } from "../http/route.ts";
import { readReturnTo } from "../http/sign-in-address.ts";
import { SignInError } from "../platform/sign-in-error.ts";
import { provisionUser } from "./provision-user.ts";
import { rotateSession } from "./rotate-session.ts";
import type { OpenidSignIn } from "./sign-in.ts";
import { openidSignInPage } from "./sign-in-page.ts";
import { startSession } from "./start-session.ts";

/** Sign-in with an OpenID provider: `/auth/sign-in` redirects the browser there, and it returns to `/auth/callback`. */
export function openidSignInRoutes(
  services: Services,
  { issuer, newUserRole, publicUrl, attempts, provider }: OpenidSignIn,
): Route[] {
  return [
    openPage("/sign-in", ({ request }) => {
      const url = requestAddress(request);
      // A browser that used another name of this host would return without its cookie.
      const href = `${publicUrl}/auth/sign-in?return_to=${encodeURIComponent(readReturnTo(url))}`;
      return openidSignInPage({ issuer, href, isSignedOut: url.searchParams.has("signed_out") });
    }),
    openRedirect("/auth/sign-in", async ({ request }) => {
      const { address, attempt } = await provider.begin(readReturnTo(requestAddress(request)));
      return redirect(address.href, await attempts.set(request.headers, attempt));
    }),
    openRedirect("/auth/callback", async ({ request, exchange }) => {
      const { search, searchParams } = requestAddress(request);
      const state = searchParams.get("state") ?? "";
      const attempt = await attempts.read(request.headers, state);
      if (attempt === undefined) {
        throw new SignInError(
          "broken_attempt",
          "unknown_attempt",
          "This sign-in was not started in this browser, was already used, or took longer than ten minutes.",
        );
      }
      const { identity, idToken } = await provider.complete(attempt, search);
      const { requestId } = exchange;
      const user = await provisionUser(services.store.database, identity, { newUserRole, requestId });
      const setCookie = await rotateSession(services, { request, exchange }, (browser) =>
        startSession(services.identity, { ...user, idToken }, browser),
      );
      return redirect(attempt.returnTo, [setCookie, attempts.clear(state)]);
    }),
  ];
}

function redirect(location: string, cookies: string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}
