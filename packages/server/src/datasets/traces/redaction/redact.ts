import { createHash } from "node:crypto";
import { z } from "zod";
import { findEmails, findPhones, type Stretch } from "../../../platform/contacts.ts";
import { compilePattern } from "../../../platform/patterns.ts";
import { mapJson } from "../../../platform/written-json.ts";
import { findNamed, findSecrets, namedValue, namesSecret, type Secret, secretKinds } from "./secrets.ts";

/** Loaded by the first upload with rules. */
const yaml = (): typeof import("yaml") => require("yaml");

const maxRules = 50;
/** For all rules together: the worst rules of this size read 50 KB a second. */
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

/** What an upload wants redacted in addition. */
export type RedactRules = z.infer<typeof file>;

/** Reads rules in YAML or JSON. Throws an `Error` that says what is wrong, without quoting values. */
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

/** Finds matches of the rules. The whole of a match is redacted. */
function createRuleFinder({ rules }: RedactRules): (text: string) => Secret[] {
  const compiled = rules.map(({ name, pattern }) => ({ kind: name, pattern: compilePattern(pattern) }));
  return (text) =>
    compiled.flatMap(({ kind, pattern }) => {
      // Testing for a match is several times as fast as locating it.
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
function findContacts(text: string, { emails, phones }: RedactRules): Secret[] {
  return [
    ...(emails ? findEmails(text).map((found) => ({ kind: "email", ...found, rank: 0 })) : []),
    ...(phones ? findPhones(text).map((found) => ({ kind: "phone", ...found, rank: 0 })) : []),
  ];
}

export type Redaction = "default" | "strict" | "none";

interface FieldName {
  redacted: string;
  isSecret: boolean;
  announcement: string | undefined;
}

/** Replaces secrets with `[redacted:KIND#n]`: the same secret always gets the same text from one redactor. */
export interface Redactor {
  redact(text: string): string;
  /** Redacts every text of a JSON value, including keys. */
  redactValue<Value>(value: Value): Value;
  /** The number of different secrets by kind. */
  counts(): Record<string, number>;
  /** Keeps the numbers of placeholders in the text from being given to other secrets. */
  keepNumbers(text: string): void;
}

/** Remembering secrets takes memory, so further ones all get the number 0. */
const maxRemembered = 200_000;
const maxTimes = 5;
const noRules: RedactRules = { rules: [], emails: false, phones: false };
const placeholder = /\[redacted:([a-z][a-z0-9_-]{0,39})#(\d{1,9})\]/g;
const maxKeptNumber = 100_000_000;
/** The length of the shortest secret that a form matches. */
const shortestSecret = 6;
const maxNames = 5_000;
const maxNameLength = 100;
/** Field names that announce a secret whose form alone does not reveal it, with the announcement as a text would have it. */
const announcements: readonly [RegExp, string][] = [
  [/authorization$/i, "authorization: "],
  [/secret_?access_?key$/i, "secret_access_key: "],
];

export function createRedactor(redaction: Redaction, rules = noRules): Redactor {
  if (redaction === "none")
    return {
      redact: (text) => text,
      redactValue: (value) => value,
      counts: () => ({}),
      keepNumbers: () => {},
    };
  const numbers = createNumbers([...secretKinds, "email", "phone", ...rules.rules.map(({ name }) => name)]);
  const isStrict = redaction === "strict";
  const hasRules = rules !== noRules;
  const shortest = hasRules || isStrict ? 0 : shortestSecret;
  const findByRules = createRuleFinder(rules);

  /** Repeats until nothing changes: cutting a word may reveal a secret that begins inside it. */
  function redactWith(text: string, known?: readonly Secret[]): string {
    let [redacted, before] = [redactOnce(text, known), text];
    for (let times = 1; times < maxTimes && redacted !== before; times += 1)
      [redacted, before] = [redactOnce(redacted), redacted];
    return redacted;
  }

  function redactOnce(text: string, known: readonly Secret[] = []): string {
    const kept = text.includes("[redacted:") ? Array.from(text.matchAll(placeholder), numbers.keep) : [];
    let secrets = findSecrets(text).concat(known);
    if (isStrict) secrets = secrets.concat(findNamed(text));
    if (hasRules) secrets = secrets.concat(findByRules(text));
    const contacts = hasRules ? findContacts(text, rules) : [];
    if (secrets.length + contacts.length === 0) return text;
    const merged = merge(outside(secrets, kept));
    const others = outside(contacts, [...merged, ...kept]);
    return replace(text, merge([...merged, ...others]), numbers.placeholderOf);
  }

  /** What is known about field names, of which there are few. */
  const names = new Map<string, FieldName>();
  function nameOf(text: string): FieldName {
    const known = names.get(text);
    if (known !== undefined) return known;
    const name = {
      redacted: redactWith(text),
      isSecret: isStrict && namesSecret(text),
      announcement: announcements.find(([name]) => name.test(text))?.[1],
    };
    if (names.size < maxNames && text.length <= maxNameLength) names.set(text, name);
    return name;
  }

  function redactField({ isSecret, announcement }: FieldName, text: string): string {
    if (isSecret) return redactWith(text, namedValue(text));
    if (announcement !== undefined) return redactWith(text, findAfter(announcement, text));
    return text.length < shortest ? text : redactWith(text);
  }

  function redactLeaf(leaf: unknown, field: string): unknown {
    if (typeof leaf === "string") return redactField(nameOf(field), leaf);
    return typeof leaf === "number" && nameOf(field).isSecret
      ? redactField(nameOf(field), String(leaf))
      : leaf;
  }

  return {
    redact: (text) => redactWith(text),
    redactValue: <Value>(value: Value) =>
      mapJson(value, redactLeaf, (name) => nameOf(name).redacted) as Value,
    counts: numbers.counts,
    keepNumbers: (text) => {
      if (text.includes("[redacted:")) for (const found of text.matchAll(placeholder)) numbers.keep(found);
    },
  };
}

function createNumbers(kinds: readonly string[]) {
  const placeholders = new Map<string, string>();
  const counts = new Map<string, number>();
  /** The last number of each known kind; a text may have endless other kinds, which get no numbers. */
  const last = new Map(kinds.map((kind) => [kind, 0]));
  return {
    /** Keeps an existing placeholder. Its number is not given to another secret from now on. */
    keep({ 0: text, 1: kind = "", 2: number, index }: RegExpExecArray): Stretch {
      const kept = Number(number);
      if (kept > (last.get(kind) ?? Infinity) && kept < maxKeptNumber) last.set(kind, kept);
      return { start: index, end: index + text.length };
    },
    placeholderOf(kind: string, secret: string): string {
      // Stored as a digest, because a part of a text would keep the whole text in memory.
      const same = kind === "private_key" ? secret.replace(/\s|\\+[nr]/g, "") : secret;
      const digest = createHash("sha256").update(same).digest("base64");
      const known = placeholders.get(digest);
      if (known !== undefined) return known;
      if (placeholders.size === maxRemembered) return `[redacted:${kind}#0]`;
      const number = (last.get(kind) ?? 0) + 1;
      last.set(kind, number);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const made = `[redacted:${kind}#${number}]`;
      placeholders.set(digest, made);
      return made;
    },
    counts: () => Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** The secrets of a text, found as if it followed another text. */
function findAfter(announcement: string, text: string): Secret[] {
  const before = announcement.length;
  return findSecrets(announcement + text).map(({ start, end, ...secret }) => ({
    ...secret,
    start: start - before,
    end: end - before,
  }));
}

/** The secrets that overlap none of the others. */
function outside(secrets: readonly Secret[], others: readonly Stretch[]): readonly Secret[] {
  if (others.length === 0) return secrets;
  const sorted = others.toSorted((one, other) => one.start - other.start);
  let next = 0;
  return sort(secrets).filter(({ start, end }) => {
    while (next < sorted.length && (sorted[next]?.end ?? 0) <= start) next += 1;
    return (sorted[next]?.start ?? end) >= end;
  });
}

/** Merges overlapping secrets into one, of the kind of the first and longest. */
function merge(secrets: readonly Secret[]): readonly Secret[] {
  const merged: Secret[] = [];
  for (const secret of sort(secrets)) {
    const last = merged.at(-1);
    if (last === undefined || secret.start >= last.end) merged.push({ ...secret });
    else last.end = Math.max(last.end, secret.end);
  }
  return merged;
}

function sort(secrets: readonly Secret[]): readonly Secret[] {
  return secrets.toSorted(
    (one, other) => one.start - other.start || other.end - one.end || one.rank - other.rank,
  );
}

function replace(
  text: string,
  secrets: readonly Secret[],
  placeholderOf: (kind: string, secret: string) => string,
): string {
  let replaced = "";
  let at = 0;
  for (const { kind, start, end } of secrets) {
    replaced += text.slice(at, start) + placeholderOf(kind, text.slice(start, end));
    at = end;
  }
  return replaced + text.slice(at);
}
