import type { Stretch } from "../../../platform/contacts.ts";

/** A stretch of text that is a secret, and its kind. */
export interface Secret extends Stretch {
  kind: string;
  /** If two kinds match the same stretch, the lower rank names it. */
  rank: number;
}

interface Form {
  kind: string;
  /** The secret begins with, or is announced by, one of these. */
  tells: readonly string[];
  /** Matches from the tell on. The secret is its group, which ends the match, or the whole match if it has no group. */
  pattern: RegExp;
  /** Otherwise the tell must be at the beginning of a word. */
  isAnnounced: boolean;
  isSecret: ((found: string) => boolean) | undefined;
}

/** Between a name and its value: in JSON, in JSON within JSON, in a header, an assignment or an element of XML. */
const separator = `(?:\\\\{0,3}["'\`])?\\s{0,4}(?:=>|[:=,>])\\s{0,4}(?:\\\\{0,3}["'\`])?`;
const schemes = "(?:Bearer|Basic|Token|ApiKey|Api-Key|Key|Negotiate|NTLM|SharedKey)";
const anyScheme = "[A-Za-z][\\w-]{0,40}\\s{1,4}";
/** One of the parameters that some schemes have, such as OAuth's and AWS's. */
const parameter = '[\\w-]{1,40}=(?:\\\\{0,3}"[^"\\\\\\n]{0,256}\\\\{0,3}"|[^\\s"\'`\\\\,<>[\\]{}()$]{1,256})';

const hasDigit = (text: string) => /\d/.test(text);
/** Prose and code rarely have so long a word with a digit there. */
const isLong = (text: string) => text.length >= 16 && hasDigit(text);
const isMixed = (text: string) => hasDigit(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
/** Whether a text is what Basic authentication sends. */
const isUserAndPassword = (text: string) =>
  /^[ -9;-\u00ff]+:[ -\u00ff]+$/.test(Buffer.from(text, "base64").toString("latin1"));
/** Longer than any private key: beyond this, the first and the last line belong to different keys. */
const maxKeyBlock = 32 * 1024;

/** A secret that consists of a tell and what follows it. */
function token(kind: string, tells: readonly string[], rest: string, isSecret?: Form["isSecret"]): Form {
  return {
    kind,
    tells,
    pattern: new RegExp(`(?:${tells.join("|")})${rest}`, "y"),
    isAnnounced: false,
    isSecret,
  };
}

/** A value announced by a word, in any case. */
function announced(kind: string, word: string, rest: string, isSecret?: Form["isSecret"]): Form {
  const tells = [...new Set([word, word.toLowerCase(), word.toUpperCase()])];
  return { kind, tells, pattern: new RegExp(`${word}${rest}`, "iy"), isAnnounced: true, isSecret };
}

/** No tell of a form can begin inside its unbounded part, so that each takes linear time. */
const forms: readonly Form[] = [
  token("anthropic", ["sk-ant-"], "[\\w-]{20,}"),
  token(
    "openai",
    ["sk-"],
    "(?:(?:proj|svcacct|service|admin)-[\\w-]{20,}|(?:or-v1-)?[A-Za-z0-9]{20,}(?![\\w-]))",
    hasDigit,
  ),
  token("google", ["AIza"], "[\\w-]{35}(?![\\w-])"),
  token("aws_key_id", ["AKIA", "ASIA"], "[A-Z0-9]{16}(?!\\w)"),
  token("github", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{36,}"),
  token("github", ["github_pat_"], "\\w{22,}"),
  token("gitlab", ["glpat-", "gldt-", "glrt-", "glptt-"], "[\\w-]{20,}(?:\\.[0-9a-z]{2}\\.[0-9a-z]{2,12})?"),
  token(
    "slack",
    [..."abcdeoprs"].map((letter) => `xox${letter}-`),
    "[\\w-]{10,}",
    hasDigit,
  ),
  token("slack", ["xoxe.xoxp-", "xoxe.xoxb-"], "[\\w-]{10,}", hasDigit),
  token("slack", ["xapp-"], "\\d-[\\w-]{10,}"),
  token("stripe", ["sk_live_", "rk_live_", "sk_test_", "rk_test_"], "[A-Za-z0-9]{16,}"),
  token("huggingface", ["hf_"], "[A-Za-z0-9]{30,}"),
  token("npm", ["npm_"], "[A-Za-z0-9]{36}(?!\\w)"),
  token("presage", ["psg_", "pss_"], "[A-Za-z0-9]{38}(?!\\w)"),
  token("presage", ["psc_"], "[\\w-]{43}(?![\\w-])"),
  token("jwt", ["eyJ"], "[\\w-]{8,}\\.[\\w-]{4,}\\.[\\w-]*(?:\\.[\\w-]+){0,2}"),
  token(
    "private_key",
    ["-----BEGIN "],
    "(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----" +
      "(?:[^-]*(?:-(?!----)[^-]*)*-----END [A-Z0-9 ]{1,40}-----|(?:(?:\\s|\\\\{1,3}[nr])+[A-Za-z0-9+/=]{16,})+)",
    ({ length }) => length <= maxKeyBlock,
  ),
  {
    kind: "url_password",
    tells: ["://"],
    // Many passwords are not encoded, so they go on to the last @, but a port is none.
    pattern:
      /:\/\/[^\s/?#:@"'`<>\\[\]]{0,256}:(?!\*+@|\$\{?\w+\}?@|(?:\d{1,5}|\$\w+|\$?\{\w+\}|port)[/?#,;)\]}&|])((?:(?!:\/\/|\[redacted:)[^\s"'`<>\\]){1,1024})(?=@)/y,
    isAnnounced: true,
    isSecret: undefined,
  },
  announced(
    "authorization",
    "Authorization",
    `${separator}${anyScheme}(${parameter}(?:,\\s{0,4}${parameter}){0,15})`,
    isLong,
  ),
  announced(
    "authorization",
    "Authorization",
    `${separator}${schemes}\\s{1,4}([^\\s"'\`\\\\,;<>[\\]{}()$]{3,})`,
  ),
  announced(
    "authorization",
    "Authorization",
    `${separator}${anyScheme}(?!\\w{1,16}://|/)([A-Za-z0-9._~+/:-]{16,}=*)(?![\\w.~+/:=([-])`,
    isLong,
  ),
  announced(
    "authorization",
    "Authorization",
    `${separator}(?!${anyScheme}\\[redacted:)([A-Za-z0-9._~+/-]{8,}=*)`,
    hasDigit,
  ),
  announced("authorization", "Bearer ", "\\s{0,3}([A-Za-z0-9._~+/-]{16,}=*)", hasDigit),
  announced("authorization", "Basic ", "\\s{0,3}([A-Za-z0-9+/]{6,}={0,2})(?![\\w=])", isUserAndPassword),
  ...["secretAccessKey", "SecretAccessKey", "secret_access_key"].map((word) =>
    announced("aws_secret", word, `${separator}([A-Za-z0-9/+]{40})(?![\\w/+=])`),
  ),
];

/** All kinds that are found here. */
export const secretKinds: readonly string[] = [...forms.map(({ kind }) => kind), "aws_secret", "value"];

const formsByTell = Map.groupBy(
  forms.flatMap((form, rank) => form.tells.map((tell) => ({ tell, form, rank }))),
  ({ tell }) => tell,
);
/** Finds little in a text without secrets, in a fraction of the time that the forms would take. */
const tells = new RegExp(
  [...formsByTell.keys()]
    .sort((one, other) => other.length - one.length)
    .map((tell) => tell.replace(/[/.]/g, "\\$&"))
    .join("|"),
  "g",
);

/** Finds secrets by their form, or by what announces them. Takes linear time. */
export function findSecrets(text: string): Secret[] {
  const found: Secret[] = [];
  tells.lastIndex = 0;
  for (let tell = tells.exec(text); tell !== null; tell = tells.exec(text)) {
    const secret = secretAt(text, tell.index, tell[0]);
    if (secret === undefined) continue;
    found.push(secret);
    // An announced value may also have a form.
    tells.lastIndex = secret.start > tell.index ? secret.start : secret.end;
  }
  const ids = found.filter(({ kind }) => kind === "aws_key_id");
  return found.concat(ids.flatMap((id) => awsSecretsNear(text, id)));
}

function secretAt(text: string, at: number, tell: string): Secret | undefined {
  const isBegun = isBeginning(text, at);
  for (const { form, rank } of formsByTell.get(tell) ?? []) {
    if (!form.isAnnounced && !isBegun) continue;
    form.pattern.lastIndex = at;
    const [whole = "", secret = whole] = form.pattern.exec(text) ?? [];
    if (secret === "" || form.isSecret?.(secret) === false) continue;
    const end = at + whole.length;
    return { kind: form.kind, start: end - secret.length, end, rank };
  }
  return undefined;
}

/** An escape in JSON, a URL or a terminal's output, whose last character is not part of the word that follows. */
const inEscape = /(?:\\[nrtbf]|\\u[\da-f]{4}|%[\da-f]{2}|\[[\d;]{0,8}m)$/i;

/** Whether a word begins here, rather than continues. */
function isBeginning(text: string, at: number): boolean {
  if (at === 0 || !/\w/.test(text.charAt(at))) return true;
  return !/[\w-]/.test(text.charAt(at - 1)) || inEscape.test(text.slice(Math.max(0, at - 10), at));
}

const nearby = 300;

/** Near the id of an AWS key: 40 base64 characters that are not a hash. */
function awsSecretsNear(text: string, id: Stretch): Secret[] {
  const from = Math.max(0, id.start - nearby);
  return Array.from(
    text.slice(from, id.end + nearby).matchAll(/(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g),
  ).flatMap(({ 0: secret, index }) => {
    const start = from + index;
    return isMixed(secret) ? [{ kind: "aws_secret", start, end: start + 40, rank: forms.length }] : [];
  });
}

const secretNames =
  "password|passwd|pwd|passphrase|passcode|secret|token|credentials?|otp|(?:api|access|secret|private|auth|signing|encryption)[_-]?key";
/** The highest rank: every other kind is more specific. */
const rankOfNamed = 1_000;

const nameAtEnd = new RegExp(`(?:${secretNames})$`, "i");
const announcement = new RegExp(
  `(?:${secretNames})(?:(?:\\\\{0,3}["'\`])?\\]?\\s{0,8}(?:=>|:=|[:=])\\s{0,8}|(\\s{1,4}))`,
  "gi",
);
const opening = /\\{0,3}["'`]/y;
const quoted: Record<string, RegExp> = {
  '"': /[^"\\\n]*(?:\\.[^"\\\n]*)*/y,
  "'": /[^'\\\n]*(?:\\.[^'\\\n]*)*/y,
  "`": /[^`\\\n]*(?:\\.[^`\\\n]*)*/y,
};
const bare = /[^\s"'`,;&<>(){}[\]\\]*/y;
/** How far to look for the end of a text quoted within a JSON text. */
const maxEscaped = 4_096;
/** Placeholders for a value: a literal, a type, a variable or a template. */
const noSecret =
  /^(?:|true|false|null|none|nil|undefined|str|string|int|integer|number|float|bool|boolean|bytes|any|object|optional|required|\*+|\$.*|<.*>|\{.*\})$/i;
const scheme = /^(?:Bearer|Basic|Token)\s+/i;

/** Whether values of this name are secrets. */
export function namesSecret(name: string): boolean {
  return nameAtEnd.test(name);
}

/** A value that is a secret because of its name, without the authentication scheme before it. */
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
  return [{ kind: "value", start: start + (scheme.exec(value)?.[0].length ?? 0), end, rank: rankOfNamed }];
}

/** The end without the punctuation that ends a sentence. */
function withoutStops(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && ".:!?".includes(text.charAt(last - 1))) last -= 1;
  return last;
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? "";
}
