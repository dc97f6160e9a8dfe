import type { Secret } from "./secrets.ts";

const names =
  "password|passwd|pwd|passphrase|passcode|secret|token|credentials?|otp|(?:api|access|secret|private|auth|signing|encryption)[_-]?key";
/** Nothing else names a secret less surely. */
const rank = 1_000;
const kind = "value";

const nameAtEnd = new RegExp(`(?:${names})$`, "i");
const announcement = new RegExp(
  `(?:${names})(?:(?:\\\\{0,3}["'\`])?\\]?\\s{0,8}(?:=>|:=|[:=])\\s{0,8}|(\\s{1,4}))`,
  "gi",
);
const opening = /\\{0,3}["'`]/y;
const quoted: Record<string, RegExp> = {
  '"': /[^"\\\n]*(?:\\.[^"\\\n]*)*/y,
  "'": /[^'\\\n]*(?:\\.[^'\\\n]*)*/y,
  "`": /[^`\\\n]*(?:\\.[^`\\\n]*)*/y,
};
const bare = /[^\s"'`,;&<>(){}[\]\\]*/y;
/** Of a text within a text in JSON, whose end is looked for. */
const maxEscaped = 4_096;
/** What stands for a value: a literal, a type, a variable or a template. */
const noSecret =
  /^(?:|true|false|null|none|nil|undefined|str|string|int|integer|number|float|bool|boolean|bytes|any|object|optional|required|\*+|\$.*|<.*>|\{.*\})$/i;
const scheme = /^(?:Bearer|Basic|Token)\s+/i;

/** Whether values of this name are secrets. */
export function namesSecret(name: string): boolean {
  return nameAtEnd.test(name);
}

/** A value that is a secret by its name, without what says how it is sent. */
export function namedValue(text: string): Secret[] {
  return valueBetween(text, 0, text.length);
}

/** The values after names of secrets: in `name=value`, `name: value`, `--name value` and in JSON. */
export function findNamed(text: string): Secret[] {
  const found: Secret[] = [];
  announcement.lastIndex = 0;
  for (let match = announcement.exec(text); match !== null; match = announcement.exec(text)) {
    const at = match.index + match[0].length;
    if (
      match[1] !== undefined &&
      !/(?:^|\s)--[\w-]*$/.test(text.slice(Math.max(0, match.index - 40), match.index))
    )
      continue;
    const { start, end, isBare } = valueAt(text, at);
    announcement.lastIndex = Math.max(at, end);
    if (isBare && /[([]/.test(text.charAt(end))) continue;
    found.push(...valueBetween(text, start, isBare ? withoutStops(text, start, end) : end));
  }
  return found;
}

function valueAt(text: string, at: number): { start: number; end: number; isBare: boolean } {
  const quote = matchAt(opening, text, at);
  const start = at + quote.length;
  if (quote === "") return { start, end: start + matchAt(bare, text, start).length, isBare: true };
  const pattern = quoted[quote];
  if (pattern !== undefined)
    return { start, end: start + matchAt(pattern, text, start).length, isBare: false };
  const length = text.slice(start, start + maxEscaped).indexOf(quote);
  return { start, end: start + (length < 0 ? matchAt(bare, text, start).length : length), isBare: false };
}

function valueBetween(text: string, start: number, end: number): Secret[] {
  const value = text.slice(start, end);
  if (noSecret.test(value)) return [];
  return [{ kind, start: start + (scheme.exec(value)?.[0].length ?? 0), end, rank }];
}

/** The end without what ends a sentence. */
function withoutStops(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && ".:!?".includes(text.charAt(last - 1))) last -= 1;
  return last;
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? "";
}
