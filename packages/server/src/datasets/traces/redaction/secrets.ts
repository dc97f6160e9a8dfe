import type { Stretch } from "../../../platform/contacts.ts";

/** A stretch of a text that is a secret, and of which kind. */
export interface Secret extends Stretch {
  kind: string;
  /** Of two kinds for the same stretch, the lower one names it. */
  rank: number;
}

interface Form {
  kind: string;
  /** One of these begins the secret, or announces it. */
  tells: readonly string[];
  /** Matches from the tell on. Its group is the secret, at the match's end; without one, the match is. */
  pattern: RegExp;
  /** Otherwise it begins where no word goes on. */
  isAnnounced: boolean;
  isSecret: ((found: string) => boolean) | undefined;
}

/** Between a name and its value: in JSON, in JSON within JSON, in a header, an assignment or an element of XML. */
const separator = `(?:\\\\{0,3}["'\`])?\\s{0,4}(?:=>|[:=,>])\\s{0,4}(?:\\\\{0,3}["'\`])?`;
const schemes = "(?:Bearer|Basic|Token|ApiKey|Api-Key|Key|Negotiate|NTLM|SharedKey)";

const hasDigit = (text: string) => /\d/.test(text);
const isMixed = (text: string) => hasDigit(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
/** What Basic authentication sends. */
const isUserAndPassword = (text: string) =>
  /^[ -9;-\u00ff]+:[ -\u00ff]+$/.test(Buffer.from(text, "base64").toString("latin1"));
/** Longer than a private key: the first and the last line are of two. */
const maxKeyBlock = 32 * 1024;

/** A tell and what follows it. */
function token(kind: string, tells: readonly string[], rest: string, isSecret?: Form["isSecret"]): Form {
  return {
    kind,
    tells,
    pattern: new RegExp(`(?:${tells.join("|")})${rest}`, "y"),
    isAnnounced: false,
    isSecret,
  };
}

/** A value that a word announces, in any case. */
function announced(kind: string, word: string, rest: string, isSecret?: Form["isSecret"]): Form {
  const tells = [...new Set([word, word.toLowerCase(), word.toUpperCase()])];
  return { kind, tells, pattern: new RegExp(`${word}${rest}`, "iy"), isAnnounced: true, isSecret };
}

/** In each, what may repeat without a limit is no tell of its own, so that all of them take linear time. */
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
  token("presage", ["psg_"], "[A-Za-z0-9]{38}(?!\\w)"),
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
    pattern: /:\/\/[^\s/?#:@"'`<>\\[\]]{0,256}:(?!\*+@|\$\{?\w+\}?@)([^\s/?#@"'`<>\\]{1,1024})(?=@)/y,
    isAnnounced: true,
    isSecret: undefined,
  },
  announced(
    "authorization",
    "Authorization",
    `${separator}${schemes}\\s{1,4}([^\\s"'\`\\\\,;<>[\\]{}()$]{3,})`,
  ),
  announced("authorization", "Authorization", `${separator}([A-Za-z0-9._~+/-]{8,}=*)`, hasDigit),
  announced("authorization", "Bearer ", "\\s{0,3}([A-Za-z0-9._~+/-]{16,}=*)", hasDigit),
  announced("authorization", "Basic ", "\\s{0,3}([A-Za-z0-9+/]{6,}={0,2})(?![\\w=])", isUserAndPassword),
  ...["secretAccessKey", "SecretAccessKey", "secret_access_key"].map((word) =>
    announced("aws_secret", word, `${separator}([A-Za-z0-9/+]{40})(?![\\w/+=])`),
  ),
];

const formsByTell = Map.groupBy(
  forms.flatMap((form, rank) => form.tells.map((tell) => ({ tell, form, rank }))),
  ({ tell }) => tell,
);
/** Of a text without a secret it finds little, in a fraction of the time that the forms would take. */
const tells = new RegExp(
  [...formsByTell.keys()]
    .sort((one, other) => other.length - one.length)
    .map((tell) => tell.replace(/[/.]/g, "\\$&"))
    .join("|"),
  "g",
);

/** What is a secret by its form, or by what announces it. Takes linear time. */
export function findSecrets(text: string): Secret[] {
  const found: Secret[] = [];
  tells.lastIndex = 0;
  for (let tell = tells.exec(text); tell !== null; tell = tells.exec(text)) {
    const secret = secretAt(text, tell.index, tell[0]);
    if (secret === undefined) continue;
    found.push(secret);
    // What was announced may also have a form.
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

/** An escape of JSON, of a URL or of a terminal, whose last character is none of the word that follows. */
const inEscape = /(?:\\[nrtbf]|\\u[\da-f]{4}|%[\da-f]{2}|\[[\d;]{0,8}m)$/i;

/** Whether no word goes on at this place. */
function isBeginning(text: string, at: number): boolean {
  if (at === 0 || !/\w/.test(text.charAt(at))) return true;
  return !/[\w-]/.test(text.charAt(at - 1)) || inEscape.test(text.slice(Math.max(0, at - 10), at));
}

const nearby = 300;

/** 40 characters of base64 that are no hash, near the id of a key. */
function awsSecretsNear(text: string, id: Stretch): Secret[] {
  const from = Math.max(0, id.start - nearby);
  return Array.from(
    text.slice(from, id.end + nearby).matchAll(/(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g),
  ).flatMap(({ 0: secret, index }) => {
    const start = from + index;
    return isMixed(secret) ? [{ kind: "aws_secret", start, end: start + 40, rank: forms.length }] : [];
  });
}
