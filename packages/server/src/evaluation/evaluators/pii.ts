import type { CountryCode } from "libphonenumber-js/max";
import { z } from "zod";
import { phoneLibrary } from "../lazy-libraries.ts";
import { defineFamily } from "./family.ts";
import { findCards } from "./pii/find-cards.ts";
import { findEmails } from "./pii/find-emails.ts";
import { findIbans } from "./pii/find-ibans.ts";
import { findIps } from "./pii/find-ips.ts";
import { findPhones } from "./pii/find-phones.ts";
import type { PiiKind, PiiMatch } from "./pii/pii-match.ts";
import { codePointPositions } from "./text/code-points.ts";

const maxListed = 100;
const maxNamed = 5;
const heavyLength = 5_000;
const kinds = ["email", "phone", "card", "iban", "ip"] as const satisfies readonly PiiKind[];
const kindNames: Record<PiiKind, string> = {
  email: "an e-mail address",
  phone: "a phone number",
  card: "a card number",
  iban: "an IBAN",
  ip: "an IP address",
};

const config = z.strictObject({
  kinds: z
    .array(z.enum(kinds))
    .min(1)
    .default([...kinds]),
  default_country: z
    .string()
    .refine((country): country is CountryCode => phoneLibrary().isSupportedCountry(country), {
      error: "Input should be a country's two letters (ISO 3166)",
    })
    .optional()
    .meta({ description: "Phone numbers without a country's code are read as this one's (ISO 3166)." }),
});
type Config = z.output<typeof config>;

export const pii = defineFamily({
  kind: "rule",
  name: "pii",
  description: "The output holds no e-mail address, phone number, card number, IBAN or IP address.",
  versions: ["2026-11-21"],
  needs: ["output"],
  config,
  builtInProfiles: [
    {
      name: "system:default",
      description: "All five kinds; phone numbers with a country's code.",
      config: { kinds: [...kinds] },
    },
  ],
  prepare(profile) {
    const wanted = new Set(profile.kinds);
    return ({ output = "" }) => {
      const matches = findAll(output, wanted, profile).toSorted((one, other) => one.start - other.start);
      const listed = matches.slice(0, maxListed);
      const positions = codePointPositions(
        output,
        listed.map(({ start, end }) => [start, end]),
      );
      const pass = matches.length === 0;
      return {
        pass,
        score: pass ? 1 : 0,
        positions,
        extra: {
          count: matches.length,
          found: listed.map(({ kind, start, end }) => ({ kind, masked: mask(output.slice(start, end)) })),
        },
        explain: () =>
          pass
            ? "The output holds no personal data of the kinds looked for."
            : describe(
                matches.length,
                listed.map(
                  ({ kind }, index) => `${kindNames[kind]} at character ${positions[index]?.[0] ?? 0}`,
                ),
              ),
      };
    };
  },
  isExpensive: ({ output = "" }) => output.length > heavyLength,
});

function findAll(text: string, wanted: ReadonlySet<PiiKind>, { default_country }: Config): PiiMatch[] {
  return [
    ...(wanted.has("email") ? findEmails(text) : []),
    ...(wanted.has("card") ? findCards(text) : []),
    ...(wanted.has("iban") ? findIbans(text) : []),
    ...(wanted.has("ip") ? findIps(text) : []),
    ...(wanted.has("phone") ? findPhones(text, default_country) : []),
  ];
}

function describe(count: number, places: readonly string[]): string {
  const named = places.slice(0, maxNamed);
  const more = count - named.length;
  return `The output holds ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}

/** Enough to find it again in the output, and too little to use. */
function mask(value: string): string {
  return `${[...value].slice(0, 2).join("")}…`;
}
