interface Language {
  indent: string;
  key(name: string): string;
  /** Of null and the two truths. */
  word(value: null | boolean): string;
}

const identifier = /^[A-Za-z_$][\w$]*$/;

const javaScript: Language = {
  indent: "  ",
  key: (name) => {
    // Any other way to write this name would set the object's prototype.
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

/** A JSON value as JavaScript. `depth` is how far the line is indented that it begins on. */
export function toJavaScript(value: unknown, depth = 0): string {
  return write(value, javaScript, depth);
}

/** A JSON value as Python, whose texts know the same escapes as JSON's. */
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

/** What is undefined is not sent. */
function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}

/** Control, direction and other characters that nobody sees, or that change how the text around them is shown. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** JSON in which every such character is written out: what a reader copies is what it seems to be. */
export function readableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    unseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
