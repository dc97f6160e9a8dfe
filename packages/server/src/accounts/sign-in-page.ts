import { pageResponse } from "../http/page-response.ts";
import { commandName } from "../platform/command-name.ts";

/** The page for the link that the server printed. Its script does the work, because only it can see the token. */
export function localSignInPage(): Response {
  const body = `<h1>Sign in</h1>
<p id="status" role="status">Open the link that the server printed when it started. It works once.</p>
<div id="help">
<p>To get a new link, run this where the server runs:</p>
<div class="command">
<pre><code id="command">${commandName} sign-in</code></pre>
<button id="copy" type="button" hidden>Copy</button>
</div>
</div>
<noscript><p>Signing in needs JavaScript.</p></noscript>`;
  return pageResponse({ title: "Sign in", body, hasScript: true });
}

export interface OpenidSignInPage {
  /** Of the identity provider. */
  issuer: string;
  /** Of the button. */
  href: string;
  isSignedOut: boolean;
}

/** The page that leads to the identity provider. */
export function openidSignInPage({ issuer, href, isSignedOut }: OpenidSignInPage): Response {
  const title = isSignedOut ? "You are signed out" : "Sign in";
  const body = `<h1>${title}</h1>
<p>With your account at <strong>${Bun.escapeHTML(new URL(issuer).host)}</strong>.</p>
<p><a class="button" href="${Bun.escapeHTML(href)}">${isSignedOut ? "Sign in again" : "Sign in"}</a></p>`;
  return pageResponse({ title, body });
}
