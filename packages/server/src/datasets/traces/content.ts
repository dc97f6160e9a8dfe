import { type LeftOutReason, readInstant } from "@presage/contract";
import { sha256Hex } from "../../platform/words.ts";
import { jsonAsWritten, mapJson, numberText, parseAsWritten } from "../../platform/written-json.ts";
import type { Redactor } from "./redaction/redact.ts";

/** What a turn says: a text, a list of texts and media, or any JSON. */
export type Content = unknown;

/** Counts turns and blocks that end up in no sample, by reason. */
export class LeftOut {
  readonly #counts = new Map<LeftOutReason, number>();

  count(reason: LeftOutReason, times = 1): void {
    if (times > 0) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + times);
  }

  add(other: LeftOut): void {
    for (const [reason, times] of other.#counts) this.count(reason, times);
  }

  /** The counts, sorted by reason. */
  counts(): Partial<Record<LeftOutReason, number>> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

/** Placeholders for parts that are not text, by the words in the part's type. */
const placeholders: readonly [RegExp, string][] = [
  [/(^|_)image(_|$)/, "[image]"],
  [/(^|_)audio(_|$)/, "[audio]"],
  [/(^|_)(file|document|video|pdf)(_|$)/, "[file]"],
];
/** The fields that hold a part's media. Other things that a tool says of a file, such as its path, are ordinary JSON. */
const mediaFields =
  /^(image|audio|video|file|document|input_audio|source|source_type|data|blob|base64|modality|uri|asset_pointer|(image|audio|video|file|document)_(url|data|id)|(mime|media)_?type)$/i;

/** Turns the contents of a trace into texts that can be stored and contain no secrets. */
export class TraceTexts {
  readonly leftOut = new LeftOut();
  readonly #redactor: Redactor;
  readonly #last = new Map<string, { text: string; cleaned: string }>();
  #repaired = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** The text of what a turn says: parts joined without a separator, other JSON in its canonical form. */
  of(content: Content, leftOut = this.leftOut): string {
    if (typeof content === "string") return this.clean(content);
    if (content === null || content === undefined) return "";
    if (isPart(content)) return this.clean(textOfPart(content, leftOut));
    if (!areParts(content)) return canonicalJson(this.cleanValue(content));
    const said = content.map((part) =>
      isPart(part) ? textOfPart(part, leftOut) : canonicalJson(this.cleanValue(part)),
    );
    return this.clean(said.join(""));
  }

  /** The same for content that has been counted already. */
  again(content: Content): string {
    const repaired = this.#repaired;
    const text = this.of(content, new LeftOut());
    this.#repaired = repaired;
    return text;
  }

  /** The text without NUL characters, lone surrogates and secrets. */
  clean(text: string): string {
    return this.#redactor.redact(this.#storable(text));
  }

  /** Cleans every text in a JSON value. */
  cleanValue<Value>(value: Value): Value {
    return this.#redactor.redactValue(withTexts(value, (text) => this.#storable(text)) as Value);
  }

  #storable(text: string): string {
    if (isStorable(text)) return text;
    this.#repaired += 1;
    return storable(text);
  }

  /** Like `of`, for texts that many traces share: the last text of each name is cached. */
  ofMany(name: string, content: Content): string {
    if (typeof content !== "string" || !isStorable(content)) return this.of(content);
    return this.#remember(name, content, () => this.#redactor.redact(content));
  }

  /** A value as JSON, for values that many traces share. */
  jsonOfMany(name: string, value: unknown): string {
    return this.#remember(name, jsonAsWritten(value), () => jsonAsWritten(this.cleanValue(value)));
  }

  #remember(name: string, text: string, clean: () => string): string {
    const last = this.#last.get(name);
    if (last?.text === text) return last.cleaned;
    const cleaned = clean();
    this.#last.set(name, { text, cleaned });
    return cleaned;
  }

  /** How many texts had NUL characters or lone surrogates. */
  repaired(): number {
    return this.#repaired;
  }

  /** Keeps the numbers of placeholders in a text from being used again. */
  keepNumbers(text: string): void {
    this.#redactor.keepNumbers(text);
  }

  redacted(): Record<string, number> {
    return this.#redactor.counts();
  }
}

type Part = string | { type?: unknown; text?: unknown; content?: unknown; value?: unknown };

/** Whether a value is a part of what a turn says: text or media. */
export function isPart(value: unknown): value is Part {
  if (typeof value === "string") return true;
  if (!isObject(value)) return false;
  return typeof value.type === "string" && (isTextPart(value) || isMedia(value, value.type));
}

function isMedia(part: Record<string, unknown>, type: string): boolean {
  const placeholder = placeholderOf(type);
  if (placeholder === undefined) return false;
  const fields = Object.keys(part).filter((name) => name !== "type" && (part[name] ?? "") !== "");
  const hasUrl = placeholder !== "[file]" && "url" in part;
  return fields.length === 0 || hasUrl || fields.some((name) => mediaFields.test(name));
}

/** Whether a list is what a turn says: all elements are parts, or some are text next to JSON. */
function areParts(content: unknown): content is unknown[] {
  if (!Array.isArray(content) || content.length === 0) return false;
  return content.every(isPart) || content.some((one) => isObject(one) && isTextPart(one));
}

function isTextPart(part: Record<string, unknown>): boolean {
  // LLaMA-Factory's parts have nothing but a value.
  const said = part.text ?? part.content ?? (Object.keys(part).length === 2 ? part.value : undefined);
  return /^(text|input_text|output_text)$/.test(String(part.type)) && typeof said === "string";
}

function textOfPart(part: Part, leftOut: LeftOut): string {
  if (typeof part === "string") return part;
  const placeholder = placeholderOf(String(part.type));
  if (placeholder === undefined) return String(part.text ?? part.content ?? part.value);
  leftOut.count("media");
  return placeholder;
}

function placeholderOf(type: string): string | undefined {
  return placeholders.find(([pattern]) => pattern.test(type))?.[1];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field by its name. A dot may be part of a name or separate nested fields: `{"a.b": 1}`, `{a: {b: 1}}`. */
export function fieldAt(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
    const head = name.slice(0, dot);
    const found = Object.hasOwn(value, head) ? fieldAt(value[head], name.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The field if it is a text and not empty. */
export function textIn(value: unknown, name: string): string | undefined {
  const found = fieldAt(value, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** An id or a reference to one: a text that is not empty, or an integer as a text. */
export function refIn(value: unknown, name: string): string | undefined {
  const found = fieldAt(value, name);
  return Number.isSafeInteger(found) ? String(found) : textIn(value, name);
}

/** The field; a number as a text with its digits as they were written. */
export function exactIn(value: unknown, name: string): unknown {
  const found = fieldAt(value, name);
  return typeof found === "number" ? numberText(found, value as object, name) : found;
}

/** The field if it is a finite number. */
export function numberIn(value: unknown, name: string): number | undefined {
  const found = fieldAt(value, name);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** The field if it is a list; otherwise an empty list. */
export function listIn(value: unknown, name: string): readonly unknown[] {
  const found = fieldAt(value, name);
  return Array.isArray(found) ? found : [];
}

/** What a file that Presage wrote says about each sample in addition to its turns; undefined for other files. */
export function statedIn(value: unknown): readonly unknown[] | undefined {
  const extra = isObject(value) ? value.extra : undefined;
  const stated = isObject(extra) ? extra.presage : undefined;
  return Array.isArray(stated) ? stated : undefined;
}

const maxIdCharacters = 180;

/** A trajectory's id as it can be stored; a long id is cut and gets a digest. Empty if `id` is. */
export function idOf(id: string): string {
  const text = storable(id);
  if (beginningOf(text, maxIdCharacters) === text) return text;
  const digest = sha256Hex(text);
  return `${beginningOf(text, 140)}${digest.slice(0, 16)}`;
}

/** A text's first characters. */
export function beginningOf(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join("");
}

/** As much of a text as fits in a tag. */
export function tagOf(text: string): string {
  return beginningOf(storable(text), maxTagCharacters);
}

/** The limit for each of a trace's tags. */
export const maxTagCharacters = 256;

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The text without characters that a database cannot store. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/** How deep a document may be nested. */
export const maxDepth = 200;

/** Whether a value is nested deeper than a document may be. Plain loops, since every document passes through here. */
export function isTooDeep(value: unknown, levels = maxDepth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) if (isTooDeep((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}

/** The value that a text of JSON stands for, unless it is nested too deep or a number written differently; any other value unchanged. */
export function parsedText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    const said = parseAsWritten(value);
    const isChanged = typeof said === "number" && String(said) !== value.trim();
    return isChanged || isTooDeep(said) ? value : said;
  } catch {
    return value;
  }
}

/** A value with all its texts changed, including field names; the very same value if none changes. */
export function withTexts(value: unknown, change: (text: string) => string): unknown {
  return mapJson(value, (leaf) => (typeof leaf === "string" ? change(leaf) : leaf), change);
}

/** JSON without spaces, with the keys of every object sorted by code point, and numbers as they were written. */
export function canonicalJson(value: unknown): string {
  const partOf = (part: unknown, name: string) =>
    typeof part === "number" ? numberText(part, value as object, name) : canonicalJson(part);
  if (Array.isArray(value)) return `[${value.map((item, index) => partOf(item, String(index))).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.keys(value)
    .sort(byCodePoints)
    .map((key) => `${JSON.stringify(key)}:${partOf(value[key], key)}`);
  return `{${fields.join(",")}}`;
}

const high = /[\ud800-\uffff]/;

/** UTF-16 sorts characters above U+FFFF before U+E000; UTF-8 does not. */
export function byCodePoints(one: string, other: string): number {
  if (high.test(one) && high.test(other)) return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : Number(one > other);
}

const rfc3339 = /^(\d{4}-\d\d-\d\d)[Tt _](\d\d:\d\d:\d\d(?:\.\d+)?)(?:[Zz]|([+-]\d\d):?(\d\d))?$/;

/**
 * A trace's time as RFC 3339; undefined if the value is not a time. A text without an offset, as Python writes it, is UTC. Numbers
 * are seconds, milli-, micro- or nanoseconds since 1970.
 */
export function timeOf(value: unknown): string | undefined {
  if (typeof value === "string" && !/^\d+(\.\d+)?$/.test(value)) {
    const [, date, time, hours, minutes] = rfc3339.exec(value) ?? [];
    const text = `${date}T${time}${hours === undefined ? "Z" : `${hours}:${minutes}`}`;
    return Number.isNaN(readInstant(text)) ? undefined : text;
  }
  const count = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  if (!(count > 0 && count < 1e20)) return undefined;
  const ms = count < 1e11 ? count * 1e3 : count < 1e14 ? count : count < 1e17 ? count / 1e3 : count / 1e6;
  return new Date(ms).toISOString();
}
