const utf8 = new TextEncoder();

/** `head`, then `unit` as often as fits, then `tail`: about `bytes` long. Filled by memory copies. */
function repeated(bytes: number, head: string, unit: string, tail: string): Uint8Array {
  const [start, middle, end] = [head, unit, tail].map((text) => utf8.encode(text)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const times = Math.max(1, Math.floor((bytes - start.length - end.length) / middle.length));
  const filled = Buffer.alloc(start.length + times * middle.length + end.length);
  filled.set(start);
  filled.fill(middle, start.length, start.length + times * middle.length);
  filled.set(end, start.length + times * middle.length);
  return filled;
}

/** An object with numbered members, whose keys come from `name`. */
function numbered(bytes: number, head: string, name: (index: number) => string, tail: string): Uint8Array {
  const members: string[] = [];
  let length = head.length + tail.length + 2;
  for (let index = 0; length < bytes; index += 1) {
    const member = `"${name(index)}":1`;
    members.push(member);
    length += member.length + 1;
  }
  return utf8.encode(`${head}{${members.join(",")}}${tail}`);
}

type Filler = (bytes: number, head: string, tail: string) => Uint8Array;

const list =
  (unit: string, last = unit): Filler =>
  (bytes, head, tail) =>
    repeated(bytes, `${head}[`, `${unit},`, `${last}]${tail}`);
const text =
  (unit: string): Filler =>
  (bytes, head, tail) =>
    repeated(bytes, `${head}"`, unit, `"${tail}`);

/** JSON values of any length, each stressing another part of a parser. */
export const fillers: Readonly<Record<string, Filler>> = {
  "a list of empty objects": list("{}"),
  "a list of empty lists": list("[]"),
  "a list of ones": list("1"),
  "a list of empty texts": list('""'),
  "a list of nulls": list("null"),
  "a list of objects with a wrong field": list('{"role":7,"x":[]}'),
  "a list of long integers": list("9007199254740993"),
  "a list of numbers beyond range": list("1e999"),
  "a list of fractions": list("0.1234567890123456"),
  "a list of lists 200 deep": list("[".repeat(200) + "]".repeat(200)),
  "a list of objects 100 deep": list('{"a":'.repeat(100) + 1 + "}".repeat(100)),
  "an object of as many keys as fit": (bytes, head, tail) =>
    numbered(bytes, head, (index) => `k${index.toString(36)}`, tail),
  "an object of numbers as keys": (bytes, head, tail) =>
    numbered(bytes, head, (index) => String(index * 3), tail),
  "an object of one key again and again": (bytes, head, tail) =>
    repeated(bytes, `${head}{`, '"a":1,', `"a":1}${tail}`),
  "an object of __proto__ again and again": (bytes, head, tail) =>
    repeated(bytes, `${head}{`, '"__proto__":{},', `"a":1}${tail}`),
  "an object with one long key": (bytes, head, tail) => repeated(bytes, `${head}{"`, "k", `":1}${tail}`),
  "one long number": (bytes, head, tail) => repeated(bytes, `${head}1`, "7", tail),
  "one long fraction": (bytes, head, tail) => repeated(bytes, `${head}0.`, "7", tail),
  spaces: (bytes, head, tail) => repeated(bytes, head, " ", `1${tail}`),
  "one text": text("The door is open. "),
  "a text of escaped line breaks": text("\\n"),
  "a text of escaped quotes": text('\\"'),
  "a text of escaped backslashes": text("\\\\"),
  "a text of escaped NULs": text("\\u0000"),
  "a text of halves of surrogate pairs": text("\\ud800"),
  "a text of white space": text(" \\t"),
  "a text of three bytes a character": text("€"),
  "a text of four bytes a character": text("😀"),
  "a text of digits": text("1"),
  "a text that does not end": (bytes, head) => repeated(bytes, `${head}"`, "x", ""),
  "a list that does not end": (bytes, head) => repeated(bytes, `${head}[`, "[],", ""),
  "bytes that are no UTF-8": (bytes, head, tail) =>
    Buffer.from(text("x")(bytes, head, tail)).fill(0xff, head.length + 1000, head.length + 2000),
  "what stops being JSON at its end": (bytes, head, tail) => repeated(bytes, `${head}[`, "{},", `]${tail}]`),
};
