import { type CookieSettings, cookieName, readCookies, writeCookie } from "../http/session-cookie.ts";
import type { AttemptSeal } from "./seal-attempt.ts";
import { attemptLifetimeS, type SignInAttempt } from "./sign-in-attempt.ts";

/** Enough of a state to tell the tabs of one browser apart. */
const statePartLength = 16;
/**
 * A browser that never returns from the provider must not collect more cookies than a server accepts: Bun refuses 16 KB of
 * headers, and an attempt that leads to a long address has 3 KB.
 */
const maxAttempts = 3;

/** Stores a sign-in attempt in the browser; each tab has its own cookie. */
export interface AttemptCookie {
  /** `Set-Cookie`s that store an attempt, and delete the old ones if there are too many. */
  set(headers: Headers, attempt: SignInAttempt): Promise<string[]>;
  read(headers: Headers, state: string): Promise<SignInAttempt | undefined>;
  clear(state: string): string;
}

export function createAttemptCookie(settings: CookieSettings, seal: AttemptSeal): AttemptCookie {
  const stem = cookieName("presage_sign_in", settings);
  const nameFor = (state: string) => `${stem}_${state.slice(0, statePartLength)}`;
  const clearByName = (name: string) => writeCookie({ name, value: "", maxAge: 0 }, settings);
  return {
    async set(headers, attempt) {
      const stored = [...readCookies(headers).keys()].filter((name) => name.startsWith(stem));
      const name = nameFor(attempt.state);
      const cookie = writeCookie(
        { name, value: await seal.close(attempt), maxAge: attemptLifetimeS },
        settings,
      );
      return [cookie, ...(stored.length < maxAttempts ? [] : stored.map(clearByName))];
    },
    async read(headers, state) {
      const sealed = readCookies(headers).get(nameFor(state));
      return sealed === null ? undefined : await seal.open(sealed);
    },
    clear: (state) => clearByName(nameFor(state)),
  };
}
