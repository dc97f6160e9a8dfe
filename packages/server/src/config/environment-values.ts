import { z } from "zod";

/** The variables as they are set. */
export type RawEnvironment = Readonly<Record<string, string | undefined>>;

export const wholeNumber = (lowest: number, highest: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .pipe(z.number().min(lowest).max(highest));
const retainedKinds = ["results", "predictions", "episodes", "usage", "audit"] as const;
/** Questions about who did what often come weeks later. */
export const leastAuditDays = 90;
/** `KIND=DAYS`, with commas between them, each kind once. */
export const retentionDays = (most: number) =>
  z
    .string()
    .transform((list) => list.split(",").map((part) => part.split("=").map((text) => text.trim())))
    .pipe(z.array(z.tuple([z.enum(retainedKinds), wholeNumber(1, most)])))
    .refine((parts) => new Set(parts.map(([kind]) => kind)).size === parts.length)
    .refine((parts) => parts.every(([kind, days]) => kind !== "audit" || days >= leastAuditDays))
    .transform(
      (parts): Readonly<Partial<Record<(typeof retainedKinds)[number], number>>> => Object.fromEntries(parts),
    );
export const onOff = z.stringbool({ truthy: ["true", "1", "yes", "on"], falsy: ["false", "0", "no", "off"] });
export const httpUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((value) => new URL(value).username === "" && new URL(value).password === "")
  // Paths are appended to it.
  .refine((value) => !/[?#]/.test(value))
  .transform((value) => value.replace(/\/+$/, ""));
/** Whether no two are the same when written in the same way. */
export const areDifferentUrls = (urls: readonly string[]): boolean =>
  new Set(urls.map((url) => new URL(url).href)).size === urls.length;
export const httpUrls = z
  .string()
  .transform((list) => list.split(",").map((url) => url.trim()))
  .pipe(z.array(httpUrl))
  .refine(areDifferentUrls);
/** Pages, their assets and cookies live at the root of the host. */
export const originUrl = httpUrl
  .refine((value) => {
    const { pathname, search, hash } = new URL(value);
    return pathname + search + hash === "/";
  })
  .transform((value) => new URL(value).origin);
/** Unlike other URLs it is compared character by character, including a trailing slash. */
export const issuerUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((value) => new URL(value).username === "" && new URL(value).password === "");
export const text = z.string();
/** Where a query would set options of the client. */
export const redisUrl = z.url({ protocol: /^rediss?$/, abort: true }).refine((value) => {
  const { hostname, pathname, search, hash } = new URL(value);
  return hostname !== "" && /^(\/\d{0,4})?$/.test(pathname) && search + hash === "";
});
const domain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
/** The value of PRESAGE_OIDC_ALLOWED_DOMAINS that lets every user of the provider sign in. */
export const anyDomain = "*";
export const domains = z
  .string()
  .transform((list) => list.split(",").map((name) => name.trim().toLowerCase()))
  .refine(
    (names) => names.every((name) => domain.test(name)) || (names.length === 1 && names[0] === anyDomain),
  );

/** What `httpUrl` accepts. */
export const expectedUrl = "an http or https URL without user name, password and query";
