/** The cookie that carries a session's token. */
export interface SessionCookie {
  /** The token in a request's cookie. */
  read(headers: Headers): string | undefined;
  /** `Set-Cookie` that sets a token. */
  set(token: string): string;
  /** `Set-Cookie` that deletes it. */
  clear(): string;
}

export interface CookieSettings {
  /** Identifies the database: browsers share cookies between all ports of a host, where each Presage has its own sessions. */
  suffix: string;
  /** Whether browsers use https. */
  isSecure: boolean;
}

export function createSessionCookie(settings: CookieSettings & { maxAgeMs: number }): SessionCookie {
  const name = cookieName("presage_session", settings);
  const write = (value: string, maxAge: number) => writeCookie({ name, value, maxAge }, settings);
  return {
    read: (headers) => readCookies(headers).get(name) ?? undefined,
    set: (token) => write(token, Math.floor(settings.maxAgeMs / 1000)),
    clear: () => write("", 0),
  };
}

/** Browsers accept a name with this prefix only from the host itself and only over https. */
export function cookieName(stem: string, { suffix, isSecure }: CookieSettings): string {
  return `${isSecure ? "__Host-" : ""}${stem}_${suffix}`;
}

export function readCookies(headers: Headers): Bun.CookieMap {
  return new Bun.CookieMap(headers.get("cookie") ?? "");
}

/** A cookie that no script can read, and that requests from other sites send only when a link is followed. */
export function writeCookie(
  { name, value, maxAge }: { name: string; value: string; maxAge: number },
  { isSecure }: Pick<CookieSettings, "isSecure">,
): string {
  const options = { path: "/", httpOnly: true, sameSite: "lax", secure: isSecure } as const;
  return new Bun.Cookie({ name, value, maxAge, ...options }).serialize();
}
