import { createHash } from "node:crypto";
import type { Stretch } from "../../../platform/contacts.ts";
import { mapJson } from "../documents/exact-json.ts";
import { createRuleFinder, findContacts, type RedactRules } from "./redact-rules.ts";
import { findNamed, findSecrets, namedValue, namesSecret, type Secret } from "./secrets.ts";

export type Redaction = "default" | "strict" | "none";

interface FieldName {
  redacted: string;
  isSecret: boolean;
  announcement: string | undefined;
}

/** Replaces secrets by `[redacted:KIND#n]`: the same secret by the same text, in all that one redactor reads. */
export interface Redactor {
  redact(text: string): string;
  /** The same in every text of a JSON value, keys too. */
  redactValue<Value>(value: Value): Value;
  /** Numbers of different secrets by kind. */
  counts(): Record<string, number>;
}

/** Further secrets have the number 0: what is remembered of a secret takes memory. */
const maxRemembered = 200_000;
const maxTimes = 5;
const noRules: RedactRules = { rules: [], emails: false, phones: false };
const placeholder = /\[redacted:[a-z][a-z0-9_-]{0,39}#\d{1,9}\]/g;
/** Of what the forms of secrets match. */
const shortestSecret = 6;
const maxNames = 5_000;
const maxNameLength = 100;
/** Names that announce a secret which its form alone does not tell, as they would in a text. */
const announcements: readonly [RegExp, string][] = [
  [/authorization$/i, "authorization: "],
  [/secret_?access_?key$/i, "secret_access_key: "],
];

export function createRedactor(redaction: Redaction, rules = noRules): Redactor {
  if (redaction === "none")
    return { redact: (text) => text, redactValue: (value) => value, counts: () => ({}) };
  const numbers = createNumbers();
  const isStrict = redaction === "strict";
  const hasRules = rules !== noRules;
  const shortest = hasRules || isStrict ? 0 : shortestSecret;
  const findByRules = createRuleFinder(rules);

  /** Until there is no more: what was within a word may begin one where the word was cut. */
  function redactWith(text: string, known?: readonly Secret[]): string {
    let [redacted, before] = [redactOnce(text, known), text];
    for (let times = 1; times < maxTimes && redacted !== before; times += 1)
      [redacted, before] = [redactOnce(redacted), redacted];
    return redacted;
  }

  function redactOnce(text: string, known: readonly Secret[] = []): string {
    let secrets = findSecrets(text).concat(known);
    if (isStrict) secrets = secrets.concat(findNamed(text));
    if (hasRules) secrets = secrets.concat(findByRules(text));
    const contacts = hasRules ? findContacts(text, rules) : [];
    if (secrets.length + contacts.length === 0) return text;
    const kept = text.includes("[redacted:") ? Array.from(text.matchAll(placeholder), stretchOf) : [];
    const merged = merge(outside(secrets, kept));
    const others = outside(contacts, [...merged, ...kept]);
    return replace(text, merge([...merged, ...others]), numbers.placeholderOf);
  }

  /** What is known of the names of fields, which are few. */
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
  };
}

function createNumbers() {
  const placeholders = new Map<string, string>();
  const counts = new Map<string, number>();
  return {
    placeholderOf(kind: string, secret: string): string {
      // A part of a text would keep the whole text in memory.
      const same = kind === "private_key" ? secret.replace(/\s|\\+[nr]/g, "") : secret;
      const digest = createHash("sha256").update(same).digest("base64");
      const known = placeholders.get(digest);
      if (known !== undefined) return known;
      if (placeholders.size === maxRemembered) return `[redacted:${kind}#0]`;
      const number = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, number);
      const made = `[redacted:${kind}#${number}]`;
      placeholders.set(digest, made);
      return made;
    },
    counts: () => Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** The secrets of a text that stands after another one. */
function findAfter(announcement: string, text: string): Secret[] {
  const before = announcement.length;
  return findSecrets(announcement + text).map(({ start, end, ...secret }) => ({
    ...secret,
    start: start - before,
    end: end - before,
  }));
}

function stretchOf({ 0: text, index }: RegExpExecArray): Stretch {
  return { start: index, end: index + text.length };
}

/** Without those that overlap one of the others. */
function outside(secrets: readonly Secret[], others: readonly Stretch[]): readonly Secret[] {
  if (others.length === 0) return secrets;
  const sorted = others.toSorted((one, other) => one.start - other.start);
  let next = 0;
  return sort(secrets).filter(({ start, end }) => {
    while (next < sorted.length && (sorted[next]?.end ?? 0) <= start) next += 1;
    return (sorted[next]?.start ?? end) >= end;
  });
}

/** Those that overlap become one, of the kind of the first and longest. */
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
