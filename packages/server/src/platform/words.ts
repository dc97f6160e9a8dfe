import { userInfo } from "node:os";
import { distance } from "fastest-levenshtein";

/** This program's name in messages. In a clone the shell does not find `presage`; a build for delivery writes its own name here. */
export const commandName: string = "npx presage";

/** This process's user. A container may have a user number but no name. */
export function operatingSystemUser(): string | null {
  try {
    const { username, uid } = userInfo();
    // Bun says `unknown` if no variable has the name.
    if (username !== "unknown") return username;
    return uid === 0 ? "root" : `user ${uid}`;
  } catch {
    return null;
  }
}

/** `1 line`, `3 lines`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** The first of some texts, and how many more there are: `a, b and 3 more`, or `a; b; and 3 more`. */
export function andMore(first: readonly string[], total: number, separator: ", " | "; " = ", "): string {
  const more = total - first.length;
  const named = first.join(separator);
  if (more <= 0) return named;
  return separator === ", " ? `${named} and ${more} more` : `${named}; and ${more} more`;
}

/** A share as `67 %`. */
export function wholePercent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** A share as `66.7 %`. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** A mean score as `0.667`, rounded like a percentage: 0.7875 is 0.788 beside 78.8 %. */
export function threeDecimals(score: number): string {
  return (Math.round(1000 * score) / 1000).toFixed(3);
}

/** Items in parts of at most `size`. */
export function* inParts<Item>(items: readonly Item[], size: number): Generator<Item[], void> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** The number of a key; the first key's is 0. */
export function numberOf<Key>(numbers: Map<Key, number>, key: Key): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** The fields that are not undefined. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>;
}

/** The fields that are not null. */
export function withoutNulls<Fields extends object>(fields: Fields): Fields {
  if (!Object.values(fields).includes(null)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Fields;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The SHA-256 of a text in hexadecimal. */
export function sha256Hex(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** Options for an `LRUCache` of many entries. With `max`, it would allocate memory for all of them up front: 28 bytes each. */
export function lruLimit(entries: number) {
  return { maxSize: entries, sizeCalculation: () => 1 };
}

/** The beginning of a text, in UTF-16 units, without half of a character at its end. */
export function beginning(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
}

/** A text, cut to its beginning and an ellipsis if it is too long. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${beginning(text, maxLength)}…`;
}

/** Escapes control characters: texts of users, models and other servers must not control the terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** The lines of a text, each `printable`, with tabs as spaces. */
export function printableLines(text: string): string {
  const lines = text.split(/\r?\n/);
  return lines.map((line) => line.split("\t").map(printable).join("    ")).join("\n");
}

/** A value as JSON without characters that control the terminal: on one line, unless it is indented. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** A text in quotes, with control characters escaped. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text));
}

/** The known name most similar to a misspelt one, if at most `maxEdits` edits away. */
export function similarName(misspelt: string, known: readonly string[], maxEdits = 3): string | undefined {
  const [best] = known
    .map((name) => ({ name, edits: distance(misspelt.toLowerCase(), name.toLowerCase()) }))
    // At most half of a short name may differ.
    .filter(({ name, edits }) => edits <= Math.min(maxEdits, name.length / 2))
    .sort((one, other) => one.edits - other.edits);
  return best?.name;
}
