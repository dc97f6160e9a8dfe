const signInPath = "/sign-in";
const longestReturnTo = 2_000;

/** Sends a browser without a session to sign in, and back afterwards. */
export function redirectToSignIn({ pathname, search }: URL): Response {
  const headers = { location: signInAddress(pathname + search), "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

/** Where to sign in, to go on to `returnTo` from there. */
export function signInAddress(returnTo: string): string {
  return `${signInPath}?return_to=${encodeURIComponent(returnTo)}`;
}

/**
 * Where a browser goes after it signed in: a path of this server, or the start. Browsers read a backslash as a slash, leave
 * out control characters, and take two slashes for the beginning of another host.
 */
export function readReturnTo(url: URL): string {
  const returnTo = url.searchParams.get("return_to") ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const isOwnPath = /^\/(?![/\\])[^\\\u0000-\u001f\u007f]*$/.test(returnTo);
  const address = isOwnPath ? toAscii(returnTo) : "/";
  return address.length <= longestReturnTo ? address : "/";
}

/** A header and a cookie take nothing else. What is there of an address is not touched, so that none becomes another one. */
function toAscii(path: string): string {
  return path.replace(/[^!-~]+/g, encodeURIComponent);
}
