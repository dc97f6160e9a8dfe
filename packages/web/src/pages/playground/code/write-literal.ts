interface Language {
  indent: string;
  key(name: string): string;
  word(value: null | boolean): string;
}

const identifier = /^[A-Za-z_$][\w$]*$/;

const javaScript: Language = {
  indent: "  ",
  key: (name) => {
    // Written any other way, this key would set the object's prototype.
    if (name === "__proto__") return '["__proto__"]';
    return identifier.test(name) ? name : readableJson(name);
  },
  word: String,
};

const words = new Map<null | boolean, string>([
  [null, "None"],
  [true, "True"],
  [false, "False"],
]);

const python: Language = {
  indent: "    ",
  key: (name) => readableJson(name),
  word: (value) => words.get(value) ?? "None",
};

/** A JSON value as JavaScript. `depth` is the indentation of its first line. */
export function toJavaScript(value: unknown, depth = 0): string {
  return write(value, javaScript, depth);
}

/** A JSON value as Python, whose strings have the same escapes as JSON. */
export function toPython(value: unknown, depth = 0): string {
  return write(value, python, depth);
}

function write(value: unknown, language: Language, depth: number): string {
  if (value === null || typeof value === "boolean") return language.word(value);
  if (typeof value !== "object") return readableJson(value);
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => write(item, language, depth + 1))]
    : [
        "{",
        "}",
        entriesOf(value).map(([name, item]) => `${language.key(name)}: ${write(item, language, depth + 1)}`),
      ];
  if (items.length === 0) return open + close;
  const margin = language.indent.repeat(depth + 1);
  const lines = items.map((item) => `${margin}${item},\n`).join("");
  return `${open}\n${lines}${language.indent.repeat(depth)}${close}`;
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}

/** Invisible characters, and those that change how the text around them is displayed. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** JSON with these characters escaped, so that copied code is what it looks like. */
export function readableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    unseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
