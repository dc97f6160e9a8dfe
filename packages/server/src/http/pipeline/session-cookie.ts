/** The cookie that carries a session's token. */
export interface SessionCookie {
  /** The token that a request carries. */
  read(headers: Headers): string | undefined;
  /** `Set-Cookie` that gives the browser a token. */
  give(token: string): string;
  /** `Set-Cookie` that takes it back. */
  take(): string;
}

export interface CookieSettings {
  /** Of the database: browsers share cookies between all ports of a host, and each Presage there has its own sessions. */
  suffix: string;
  /** Whether browsers come by https. */
  isSecure: boolean;
}

export function createSessionCookie(settings: CookieSettings & { maxAgeMs: number }): SessionCookie {
  const name = cookieName("presage_session", settings);
  const write = (value: string, maxAge: number) => writeCookie({ name, value, maxAge }, settings);
  return {
    read: (headers) => readCookies(headers).get(name) ?? undefined,
    give: (token) => write(token, Math.floor(settings.maxAgeMs / 1000)),
    take: () => write("", 0),
  };
}

/** Browsers take a name with this prefix only from the host itself and only over https. */
export function cookieName(stem: string, { suffix, isSecure }: CookieSettings): string {
  return `${isSecure ? "__Host-" : ""}${stem}_${suffix}`;
}

export function readCookies(headers: Headers): Bun.CookieMap {
  return new Bun.CookieMap(headers.get("cookie") ?? "");
}

/** A cookie that no script reads and that other sites send along with nothing but their links. */
export function writeCookie(
  { name, value, maxAge }: { name: string; value: string; maxAge: number },
  { isSecure }: Pick<CookieSettings, "isSecure">,
): string {
  const options = { path: "/", httpOnly: true, sameSite: "lax", secure: isSecure } as const;
  return new Bun.Cookie({ name, value, maxAge, ...options }).serialize();
}
