import type { AttemptSeal } from "../../../identity/openid/seal-attempt.ts";
import { attemptLifetimeS, type SignInAttempt } from "../../../identity/openid/sign-in-attempt.ts";
import { type CookieSettings, cookieName, readCookies, writeCookie } from "../../pipeline/session-cookie.ts";

/** Enough of a state to tell the tabs of one browser apart. */
const statePartLength = 16;
/**
 * So that a browser that never comes back from the provider does not gather more cookies than a server takes: Bun refuses
 * 16 KB of headers, and an attempt that goes on to a long address has 3 KB.
 */
const mostAttempts = 3;

/** Keeps what a browser set out to the provider with; each tab has a cookie of its own. */
export interface AttemptCookie {
  /** `Set-Cookie`s that give the browser an attempt, and take the old ones back where they have become too many. */
  give(headers: Headers, attempt: SignInAttempt): Promise<string[]>;
  read(headers: Headers, state: string): Promise<SignInAttempt | undefined>;
  take(state: string): string;
}

export function createAttemptCookie(settings: CookieSettings, seal: AttemptSeal): AttemptCookie {
  const stem = cookieName("presage_sign_in", settings);
  const nameFor = (state: string) => `${stem}_${state.slice(0, statePartLength)}`;
  const takeByName = (name: string) => writeCookie({ name, value: "", maxAge: 0 }, settings);
  return {
    async give(headers, attempt) {
      const given = [...readCookies(headers).keys()].filter((name) => name.startsWith(stem));
      const name = nameFor(attempt.state);
      const cookie = writeCookie(
        { name, value: await seal.close(attempt), maxAge: attemptLifetimeS },
        settings,
      );
      return [cookie, ...(given.length < mostAttempts ? [] : given.map(takeByName))];
    },
    async read(headers, state) {
      const sealed = readCookies(headers).get(nameFor(state));
      return sealed === null ? undefined : await seal.open(sealed);
    },
    take: (state) => takeByName(nameFor(state)),
  };
}
