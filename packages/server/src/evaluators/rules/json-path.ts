import { cutText } from "./cut-text.ts";

/** The path from the root to a place in a document; formatted as a pointer only when it is shown. */
export interface JsonPath {
  parent: JsonPath | undefined;
  key: string;
}

const maxKeyLength = 100;
const maxPointerLength = 500;

/** The place as a JSON pointer (RFC 6901), cut if it is very long. */
export function toJsonPointer(path: JsonPath | undefined): string {
  const tokens: string[] = [];
  for (let node = path; node !== undefined; node = node.parent)
    tokens.push(`/${cutText(node.key, maxKeyLength).replaceAll("~", "~0").replaceAll("/", "~1")}`);
  return cutText(tokens.reverse().join(""), maxPointerLength);
}

/** The keys that a JSON pointer names; undefined if it is not a JSON pointer. */
export function readJsonPointer(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  const tokens = pointer.slice(1).split("/");
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}
