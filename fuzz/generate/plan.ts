import type { Operation } from "../document.ts";
import type { Draw } from "./draw.ts";

/** An unusual way to turn a body's text into bytes. */
export interface TextMutation {
  name: string;
  encode(bytes: Buffer): Buffer;
}

const garbage = [
  "",
  " \n\t ",
  "null",
  "true",
  "0",
  "-",
  '"',
  '"text"',
  "[]",
  "{}",
  "{",
  "[1,]",
  "{,}",
  '{"a":}',
  "{'a':1}",
  "{a:1}",
  "NaN",
  "[Infinity]",
  "[01]",
  "[+1]",
  "[.5]",
  "[1.]",
  "[1e]",
  '["\\x41"]',
  '["\\ud800"]',
  '["\t"]',
  "// comment\n{}",
  "{}{}",
  "{}\u0000",
  "<xml/>",
  "a=1&b=2",
];

const badBytes = ["ff", "c080", "eda080", "f4908080", "e28228", "80", "00", "fe", "f888808080"].map((hex) =>
  Buffer.from(hex, "hex"),
);

export function drawTextMutation(draw: Draw): TextMutation {
  const place = draw.below(1_000_000);
  const at = (bytes: Buffer) => place % (bytes.length + 1);
  const bad = draw.pick(badBytes);
  const text = Buffer.from(draw.pick(garbage));
  const levels = draw.pick([100, 1_000, 20_000]);
  const twice = draw.pick(["null", "1", '"x"', "[]", "{}"]);
  return draw.pick<TextMutation>([
    { name: "body cut short", encode: (bytes) => bytes.subarray(0, at(bytes)) },
    {
      name: "bytes that are not UTF-8",
      encode: (bytes) => Buffer.concat([bytes.subarray(0, at(bytes)), bad, bytes.subarray(at(bytes))]),
    },
    { name: "other text", encode: () => text },
    { name: "byte order mark", encode: (bytes) => Buffer.concat([Buffer.from("\ufeff"), bytes]) },
    { name: "UTF-16", encode: (bytes) => Buffer.from(bytes.toString(), "utf16le") },
    { name: "text after the body", encode: (bytes) => Buffer.concat([bytes, text]) },
    {
      name: "spaces around the body",
      encode: (bytes) => Buffer.concat([Buffer.alloc(5_000, " "), bytes, Buffer.alloc(5_000, "\n")]),
    },
    {
      name: "a duplicate name",
      encode: (bytes) => Buffer.from(bytes.toString().replace(/^\{("(?:[^"\\]|\\.)*"):/, `{$1:${twice},$1:`)),
    },
    { name: "escaped letters", encode: (bytes) => Buffer.from(escapeNames(bytes.toString())) },
    {
      name: "deep nesting",
      encode: () => Buffer.from(`${"[".repeat(levels)}${place % 2 === 0 ? "]".repeat(levels) : ""}`),
    },
  ]);
}

/** Equal JSON in which the first letter of each text is escaped. */
function escapeNames(text: string): string {
  return text.replace(/"([a-z])/g, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`);
}

/** Who sends the request. `made` is a key created by an earlier request, and possibly revoked by another. */
export type Caller = "owner" | "session" | "made" | "stranger" | "nobody";

export const usualHost = "presage";

/** One request before serialisation. Ids from earlier responses are placeholders. */
export interface Plan {
  operation: Operation;
  method: string;
  /** URL-encoded. */
  pathParameters: Record<string, string>;
  /** Appended to the path unchanged. */
  pathSuffix: string;
  query: [name: string, value: string][];
  /** Appended to the query unchanged. */
  querySuffix: string;
  headers: [name: string, value: string][];
  caller: Caller;
  /** Selects one of the callers of that kind. */
  callerNumber: number;
  isBearer: boolean;
  /** Undefined if there is none. */
  body: unknown;
  textMutations: TextMutation[];
  encoding: "identity" | "gzip" | "deflate" | "br" | "zstd";
  framing: "length" | "chunks" | "small chunks";
  version: "1.1" | "1.0";
  host: string | undefined;
  /** Allowed statuses beside the documented ones. */
  allows: number[];
  /** Whether the caller's key or session may be refused. */
  mayBeUnknown: boolean;
  /** Not valid HTTP: the server may close the connection or respond with an error that is not Presage's. */
  isMalformed: boolean;
}

/** One way to make a request unusual. Mutations are independent of each other. */
export interface Mutation {
  name: string;
  apply(plan: Plan): Plan;
}
