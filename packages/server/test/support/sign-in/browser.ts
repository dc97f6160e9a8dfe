/** A client that follows no redirects on its own, and keeps cookies as a browser does. */
export interface Browser {
  /** Values by name. Like real browsers, it shares cookies between ports. */
  cookies: Map<string, string>;
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

/** A browser without scripts. */
export function openBrowser(cookies = new Map<string, string>()): Browser {
  return {
    cookies,
    async fetch(url, init = {}) {
      const headers = new Headers(init.headers);
      headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
      const response = await fetch(url, { ...init, headers, redirect: "manual" });
      for (const line of response.headers.getSetCookie()) keep(cookies, line);
      return response;
    },
  };
}

function keep(cookies: Map<string, string>, line: string): void {
  const { name, value, maxAge, expires } = Bun.Cookie.parse(line);
  const isOver = maxAge === 0 || (expires !== undefined && new Date(expires).getTime() <= Date.now());
  if (isOver) cookies.delete(name);
  else cookies.set(name, value);
}
