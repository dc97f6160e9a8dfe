import type { Browser } from "./browser.ts";

export interface Arrival {
  /** The address of the last response. */
  url: URL;
  response: Response;
}

/** Follows redirects from `url` until a response is not a redirect, or `stopBefore` returns true for the next address. */
export async function follow(
  browser: Browser,
  url: string | URL,
  stopBefore: (next: URL) => boolean = () => false,
): Promise<Arrival> {
  let at = new URL(url);
  for (let steps = 0; steps < 15; steps++) {
    const response = await browser.fetch(at);
    const location = response.headers.get("location");
    if (location === null) return { url: at, response };
    const next = new URL(location, at);
    if (stopBefore(next)) return { url: next, response };
    at = next;
  }
  throw new Error(`Sent around in a circle, last to ${at.origin}${at.pathname}.`);
}

/** Signs in from Presage's button to the requested page. */
export async function signInAtProvider(
  browser: Browser,
  presageUrl: string,
  returnTo = "/v1/me",
): Promise<Arrival> {
  return await follow(browser, `${presageUrl}/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`);
}

/** The address to which the provider redirects the browser; it is not followed. */
export async function callbackAddress(browser: Browser, presageUrl: string): Promise<URL> {
  const isCallback = (next: URL) => next.pathname === "/auth/callback";
  return (await follow(browser, `${presageUrl}/auth/sign-in`, isCallback)).url;
}
