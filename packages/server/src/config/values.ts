import { z } from "zod";

declare module "zod/v4/core" {
  interface GlobalMeta {
    /** What a value has to be, for the error about an invalid one. */
    expected?: string;
  }
}

/** The variables as they are set. */
export type RawEnvironment = Readonly<Record<string, string | undefined>>;

/** The `expected` text of a schema, or of the schema that it makes optional. */
export function expectedOf(schema: z.core.$ZodType): string | undefined {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return z.globalRegistry.get(schema)?.expected ?? (isWrapper ? expectedOf(schema.unwrap()) : undefined);
}

/** The `highest` for numbers that are limited only by what a double represents exactly. */
export const unlimited = Number.MAX_SAFE_INTEGER;
/** `unit` is the thing counted, such as bytes. */
export const wholeNumber = (lowest: number, highest: number, unit?: string) =>
  z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .pipe(z.number().min(lowest).max(highest))
    .meta({ expected: expectedNumber(lowest, highest, unit) });

/** The `expected` text of a whole number within these bounds. */
export function expectedNumber(lowest: number, highest: number, unit?: string): string {
  const number = unit === undefined ? "a whole number" : `a whole number of ${unit}`;
  if (highest < unlimited) return `${number} from ${lowest} to ${highest}`;
  return lowest === 1 ? `${number} above 0` : `${number} from ${lowest}`;
}

/** One of these words. */
export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  z.enum(options).meta({ expected: options.join(", ") });
const retainedKinds = ["results", "predictions", "episodes", "usage", "audit"] as const;
/** Questions about who did what often arise weeks later. */
const leastAuditDays = 90;
/** `KIND=DAYS`, separated by commas, each kind at most once. */
export const retentionDays = (most: number) =>
  z
    .string()
    .transform((list) => list.split(",").map((part) => part.split("=").map((text) => text.trim())))
    .pipe(z.array(z.tuple([z.enum(retainedKinds), wholeNumber(1, most)])))
    .refine((parts) => new Set(parts.map(([kind]) => kind)).size === parts.length)
    .refine((parts) => parts.every(([kind, days]) => kind !== "audit" || days >= leastAuditDays))
    .transform(
      (parts): Readonly<Partial<Record<(typeof retainedKinds)[number], number>>> => Object.fromEntries(parts),
    )
    .meta({
      expected: `results, predictions, episodes, usage or audit, each with =DAYS from 1 to ${most} (audit: from ${leastAuditDays}) and commas between them, such as results=90,usage=365`,
    });
export const onOff = z
  .stringbool({ truthy: ["true", "1", "yes", "on"], falsy: ["false", "0", "no", "off"] })
  .meta({ expected: "true or false" });
/** What a URL of the server can contain; an IPv6 address has no brackets. */
export const listenHost = z
  .string()
  .refine(
    (host) => /^[\w.:-]+$/.test(host) && URL.canParse(`http://${host.includes(":") ? `[${host}]` : host}`),
  )
  .meta({ expected: "an IP address without brackets, or a host name" });
const expectedUrl = "an http or https URL without a user name, password or query";
export const httpUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((value) => new URL(value).username === "" && new URL(value).password === "")
  // Paths are appended to it.
  .refine((value) => !/[?#]/.test(value))
  .transform((value) => value.replace(/\/+$/, ""))
  .meta({ expected: expectedUrl });
/** Whether no two of the URLs are equal once normalised. */
export const areDifferentUrls = (urls: readonly string[]): boolean =>
  new Set(urls.map((url) => new URL(url).href)).size === urls.length;
export const httpUrls = z
  .string()
  .transform((list) => list.split(",").map((url) => url.trim()))
  .pipe(z.array(httpUrl))
  .refine(areDifferentUrls)
  .meta({ expected: `${expectedUrl}, or several different ones with commas between them` });
/** Pages, their assets and cookies live at the root of the host. */
export const originUrl = httpUrl
  .refine((value) => {
    const { pathname, search, hash } = new URL(value);
    return pathname + search + hash === "/";
  })
  .transform((value) => new URL(value).origin)
  .meta({ expected: "an http or https URL without user name, password, query and path" });
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** Unlike other URLs it is compared character by character, including a trailing slash. Sign-ins over plain http stay on this machine. */
export const issuerUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((value) => new URL(value).username === "" && new URL(value).password === "")
  .refine((value) => !/[?#]/.test(value))
  .refine((value) => new URL(value).protocol === "https:" || loopbackHosts.has(new URL(value).hostname))
  .meta({ expected: "an https URL without a user name, password or query, or an http one on this machine" });
export const text = z.string().meta({ expected: "text" });
/** Sent in a header. Trimmed, as the file that it came from may end in a line break. */
export const apiKey = z
  .string()
  .trim()
  .regex(/^[\x20-\x7e]+$/)
  .meta({ expected: "printable ASCII characters" });
/** Has no query, as a query would set options of the client. */
export const redisUrl = z
  .url({ protocol: /^rediss?$/, abort: true })
  .refine((value) => {
    const { hostname, pathname, search, hash } = new URL(value);
    return hostname !== "" && /^(\/\d{0,4})?$/.test(pathname) && search + hash === "";
  })
  .meta({ expected: "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// with TLS" });
const domain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
/** The value of PRESAGE_OIDC_ALLOWED_DOMAINS that lets every user of the provider sign in. */
export const anyDomain = "*";
export const domains = z
  .string()
  .transform((list) => list.split(",").map((name) => name.trim().toLowerCase()))
  .refine(
    (names) => names.every((name) => domain.test(name)) || (names.length === 1 && names[0] === anyDomain),
  )
  .meta({ expected: "domains separated by commas, for example example.org,example.com, or *" });
