import { z } from "zod";
import { findEmails, findPhones } from "../../../platform/contacts.ts";
import { compilePattern } from "../../../platform/patterns.ts";
import type { Secret } from "./secrets.ts";

/** Loaded by the first upload with rules. */
const yaml = (): typeof import("yaml") => require("yaml");

/** What else an upload wants redacted. */
export interface RedactRules {
  rules: readonly { name: string; pattern: string }[];
  emails: boolean;
  phones: boolean;
}

const maxRules = 50;
/** Of all rules together: the worst of this size read 50 KB a second. */
const maxStepsPerCharacter = 2_000;

const file = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(
            /^[a-z][a-z0-9_-]{0,39}$/,
            "expected up to 40 lower-case letters, digits, _ and -, a letter first",
          ),
        pattern: z.string().min(1),
      }),
    )
    .max(maxRules)
    .default([]),
  emails: z.boolean().default(false),
  phones: z.boolean().default(false),
});

/** Reads rules in YAML or JSON. Throws an `Error` that says what is wrong, and quotes no values. */
export function readRedactRules(text: string): RedactRules {
  const parsed = file.safeParse(parseYaml(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error([...(issue?.path ?? []).map(String), issue?.message].join(": "));
  }
  if (sizeOf(parsed.data) > maxStepsPerCharacter)
    throw new Error(`the rules together take more than ${maxStepsPerCharacter} steps per character`);
  return parsed.data;
}

function parseYaml(text: string): unknown {
  const document = yaml().parseDocument(text, { prettyErrors: false, resolveKnownTags: false });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined)
    throw new Error(`not valid YAML at character ${fault.pos[0] + 1}: ${fault.message}`);
  return document.toJS({ maxAliasCount: 0 });
}

function sizeOf({ rules }: RedactRules): number {
  return rules.reduce((sum, { pattern }, index) => {
    try {
      const compiled = compilePattern(pattern);
      if (compiled.matcher("").find()) throw new Error("it matches the empty text");
      return sum + compiled.programSize();
    } catch (error) {
      throw new Error(`rules: ${index}: pattern: ${(error as Error).message}`);
    }
  }, 0);
}

/** Finds what the rules name. Of the patterns' matches, the whole is redacted. */
export function createRuleFinder({ rules }: RedactRules): (text: string) => Secret[] {
  const compiled = rules.map(({ name, pattern }) => ({ kind: name, pattern: compilePattern(pattern) }));
  return (text) =>
    compiled.flatMap(({ kind, pattern }) => {
      // Whether there is a match is told several times as fast as where.
      if (!pattern.test(text)) return [];
      const found: Secret[] = [];
      const matcher = pattern.matcher(text);
      while (matcher.find())
        if (matcher.end() > matcher.start())
          found.push({ kind, start: matcher.start(), end: matcher.end(), rank: -1 });
      return found;
    });
}

/** E-mail addresses and phone numbers, if they are wanted. */
export function findContacts(text: string, { emails, phones }: RedactRules): Secret[] {
  return [
    ...(emails ? findEmails(text).map((found) => ({ kind: "email", ...found, rank: 0 })) : []),
    ...(phones ? findPhones(text).map((found) => ({ kind: "phone", ...found, rank: 0 })) : []),
  ];
}
