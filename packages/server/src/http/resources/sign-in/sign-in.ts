import { scriptPath, stylesPath } from "../../pages/page-response.ts";
import styles from "../../pages/pages.css" with { type: "text" };
import script from "../../pages/sign-in.js" with { type: "text" };
import { open, type Route } from "../../pipeline/route.ts";
import { type LocalSignIn, localSignInRoutes } from "./local-sign-in.ts";
import { type OpenidSignIn, openidSignInRoutes } from "./openid-sign-in.ts";
import type { SessionKeeper } from "./rotate-session.ts";

/** How people sign in: by a printed address, or at their identity provider. */
export type SignIn = ({ kind: "local" } & LocalSignIn) | ({ kind: "openid" } & OpenidSignIn);

export function signInRoutes(signIn: SignIn, sessions: SessionKeeper): Route[] {
  return [
    open("GET", stylesPath, () => asset(styles, "text/css")),
    open("GET", scriptPath, () => asset(script, "text/javascript")),
    ...(signIn.kind === "local" ? localSignInRoutes(signIn, sessions) : openidSignInRoutes(signIn, sessions)),
  ];
}

function asset(content: string, contentType: string): Response {
  const headers = {
    "content-type": `${contentType}; charset=utf-8`,
    "cache-control": "public, max-age=3600",
  };
  return new Response(content, { headers });
}
