import { createSessionTokens } from "../../../src/accounts/sessions.ts";
import { sharedSecret } from "../../../src/platform/storage/settings-store.ts";
import type { TestPresage } from "../presage/presage.ts";
import { openStore } from "../store/open-store.ts";
import { type Browser, openBrowser } from "./browser.ts";

/** The credentials of a dashboard page's calls. */
export interface TestSession {
  cookie: string;
  /** The cookie's value. */
  token: string;
  csrfToken: string;
  /** The headers that a changing call needs. */
  headers: Record<string, string>;
}

/** Signs a browser in with the printed address. */
export async function signInLocally(
  presage: Pick<TestPresage, "url" | "signInAddress">,
  headers: Record<string, string> = {},
): Promise<Browser> {
  const browser = openBrowser();
  const token = new URL(presage.signInAddress ?? "").hash.slice(1);
  const answer = await browser.fetch(`${presage.url}/auth/local`, {
    method: "POST",
    headers,
    body: JSON.stringify({ token }),
  });
  if (!answer.ok) throw new Error(`The address does not sign in: ${answer.status}`);
  return browser;
}

/** A browser's session. Its CSRF token is computed as on the server, without loading a page. */
export async function sessionOf(browser: Browser, databaseUrl: string): Promise<TestSession> {
  await using store = await openStore(databaseUrl);
  const tokens = createSessionTokens(await sharedSecret(store.database, "session_digest"));
  const [name, token] = [...browser.cookies].find(([name]) => name.includes("presage_session_")) ?? [];
  if (name === undefined || token === undefined) throw new Error("The browser has no session.");
  const cookie = `${name}=${token}`;
  const csrfToken = tokens.csrfTokenOf(token);
  return { cookie, token, csrfToken, headers: { cookie, "x-csrf-token": csrfToken } };
}
