import type { Role } from "@presage/contract";
import type { Services } from "../app/services.ts";
import fonts from "../http/fonts.css" with { type: "text" };
import { scriptPath, stylesPath } from "../http/page-response.ts";
import styles from "../http/pages.css" with { type: "text" };
import { openFile, type Route } from "../http/route.ts";
import script from "../http/sign-in.js" with { type: "text" };
import type { AttemptCookie } from "./attempt-cookie.ts";
import { localSignInRoutes } from "./local-sign-in.ts";
import type { OpenidProvider } from "./openid-provider.ts";
import { openidSignInRoutes } from "./openid-sign-in.ts";
import type { KeyDigest } from "./verify-api-key.ts";

/** How people sign in: with a printed address, or with their identity provider. */
export type SignIn = LocalSignIn | OpenidSignIn;

export interface LocalSignIn {
  kind: "local";
  tokenDigest: KeyDigest;
}

export interface OpenidSignIn {
  kind: "openid";
  issuer: string;
  /** Of users who sign in for the first time. */
  newUserRole: Role;
  /** The origin to which the provider redirects browsers. */
  publicUrl: string;
  provider: OpenidProvider;
  attempts: AttemptCookie;
}

export function signInRoutes(services: Services): Route[] {
  const { signIn } = services;
  return [
    openFile(stylesPath, () => asset(fonts + styles, "text/css")),
    openFile(scriptPath, () => asset(script, "text/javascript")),
    ...(signIn.kind === "local" ? localSignInRoutes(services, signIn) : openidSignInRoutes(services, signIn)),
  ];
}

function asset(content: string, contentType: string): Response {
  const headers = {
    "content-type": `${contentType}; charset=utf-8`,
    "cache-control": "public, max-age=3600",
  };
  return new Response(content, { headers });
}
