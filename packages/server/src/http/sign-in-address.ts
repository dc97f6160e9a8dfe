const signInPath = "/sign-in";
const longestReturnTo = 2_000;

/** Redirects a browser without a session to sign in, and back afterwards. */
export function redirectToSignIn({ pathname, search }: URL): Response {
  const headers = { location: signInAddress(pathname + search), "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

/** The sign-in page that leads back to `returnTo`. */
export function signInAddress(returnTo: string): string {
  return `${signInPath}?return_to=${encodeURIComponent(returnTo)}`;
}

/**
 * Where a browser goes after sign-in: a path of this server, or the start page. Browsers read a backslash as a slash, drop
 * control characters, and take two slashes as the start of another host.
 */
export function readReturnTo(url: URL): string {
  const returnTo = url.searchParams.get("return_to") ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
  const isOwnPath = /^\/(?![/\\])[^\\\u0000-\u001f\u007f]*$/.test(returnTo);
  const address = isOwnPath ? toAscii(returnTo) : "/";
  return address.length <= longestReturnTo ? address : "/";
}

/** Headers and cookies allow only ASCII. ASCII characters stay as they are, so that the path remains the same one. */
function toAscii(path: string): string {
  return path.replace(/[^!-~]+/g, encodeURIComponent);
}
