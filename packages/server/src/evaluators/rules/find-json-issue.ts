export interface JsonIssue {
  /** In UTF-16 units of the text. */
  at: number;
  reason: string;
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** What may come next: a value, a value or the array's end, a key, … */
type Expected = "value" | "item" | "key" | "firstKey" | "colon" | "separator";

const expectedWords: Record<Expected, string> = {
  value: "a value",
  item: "a value or ]",
  key: "a key in double quotes",
  firstKey: "a key in double quotes or }",
  colon: "a colon",
  separator: "a comma or the closing bracket",
};

/** Where a text stops being JSON, which the runtime's own parser does not report. Not recursive: texts may be nested to any depth. */
export function findJsonIssue(text: string, maxDepth: number): JsonIssue | undefined {
  const closers: string[] = [];
  let expected: Expected = "value";
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    const done: boolean = expected === "separator" && closers.length === 0;
    const wantsKey: boolean = expected === "key" || expected === "firstKey";
    const wantsValue: boolean = expected === "value" || expected === "item";
    const character = text[at];
    if (character === undefined)
      return done ? undefined : { at, reason: `the text ends where ${expectedWords[expected]} is expected` };
    if (done) return { at, reason: "unexpected text after the JSON" };

    if (character === closers.at(-1) && ["item", "firstKey", "separator"].includes(expected)) {
      closers.pop();
      expected = "separator";
      at += 1;
    } else if (expected === "separator" && character === ",") {
      expected = closers.at(-1) === "}" ? "key" : "value";
      at += 1;
    } else if (expected === "colon" && character === ":") {
      expected = "value";
      at += 1;
    } else if (character === '"' && (wantsKey || wantsValue)) {
      const end = endOfString(text, at);
      if (typeof end !== "number") return end;
      expected = wantsKey ? "colon" : "separator";
      at = end;
    } else if (wantsValue && (character === "{" || character === "[")) {
      if (closers.length === maxDepth) return { at, reason: `nested deeper than ${maxDepth} levels` };
      closers.push(character === "{" ? "}" : "]");
      expected = character === "{" ? "firstKey" : "item";
      at += 1;
    } else {
      scalar.lastIndex = at;
      if (!wantsValue || !scalar.test(text))
        return { at, reason: `${expectedWords[expected]} is expected here` };
      expected = "separator";
      at = scalar.lastIndex;
    }
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at += 1;
  return at;
}

function endOfString(text: string, from: number): number | JsonIssue {
  for (let at = from + 1; ; ) {
    const character = text[at];
    if (character === undefined) return { at, reason: "the text ends inside a string" };
    if (character === '"') return at + 1;
    if (character < " ") return { at, reason: "a string contains a control character" };
    if (character === "\\") {
      escapeSequence.lastIndex = at;
      if (!escapeSequence.test(text)) return { at, reason: "unknown escape in a string" };
      at = escapeSequence.lastIndex;
    } else {
      at += 1;
    }
  }
}
