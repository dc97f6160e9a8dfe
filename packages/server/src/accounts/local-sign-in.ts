import type { Services } from "../app/services.ts";
import { findSession, isSameOrigin } from "../http/authenticate.ts";
import { readJsonBody } from "../http/read-json.ts";
import { open, openPage, type Route, requestAddress } from "../http/route.ts";
import { readReturnTo } from "../http/sign-in-address.ts";
import { ServiceError } from "../platform/errors.ts";
import { rotateSession } from "./rotate-session.ts";
import type { LocalSignIn } from "./sign-in.ts";
import { localSignInPage } from "./sign-in-page.ts";
import { useSignInToken } from "./use-sign-in-token.ts";

/** A token is 43 characters. */
const maxBodyBytes = 1_000;

/** Sign-in with the address that the server prints. The page's script sends the token, which is in the address's fragment. */
export function localSignInRoutes(services: Services, { tokenDigest }: LocalSignIn): Route[] {
  return [
    openPage("/sign-in", () => localSignInPage()),
    open("POST", "/auth/local", async ({ request, exchange }) => {
      if (!isSameOrigin(request.headers)) {
        throw new ServiceError("forbidden", "Only the sign-in page may send this request.");
      }
      const token = tokenOf((await readJsonBody(request, maxBodyBytes)).plain) ?? "";
      const body = { redirect_to: readReturnTo(requestAddress(request)) };
      const headers = { "cache-control": "no-store" };
      try {
        const setCookie = await rotateSession(services, { request, exchange }, (browser) =>
          useSignInToken(services.identity, tokenDigest, token, browser),
        );
        return Response.json(body, { headers: { ...headers, "set-cookie": setCookie } });
      } catch (error) {
        const isRefused = error instanceof ServiceError && error.code === "unauthenticated";
        // Opening the address again in a browser that is signed in just continues.
        if (!isRefused || (await findSession(services, request.headers)) === undefined) throw error;
        return Response.json(body, { headers });
      }
    }),
  ];
}

function tokenOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("token" in body)) return undefined;
  return typeof body.token === "string" ? body.token : undefined;
}
