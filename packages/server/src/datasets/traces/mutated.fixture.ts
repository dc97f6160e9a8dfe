import type { Draw } from "../../../../../fuzz/generate/draw.ts";

const values: readonly (() => unknown)[] = [
  ...[null, true, 0, -1, 1.5, 1e300, "", "x", "a\u0000b\ud800", "{", "[1]"].map((value) => () => value),
  ...[[], {}, [null], [[]], [{}], { a: 1 }, { type: "text" }, [{ type: "text", text: 1 }]].map(
    (value) => () => structuredClone(value),
  ),
  () => nested(150),
  () => nested(300),
  () => "x".repeat(1_000),
];

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let left = depth; left > 0; left -= 1) value = left % 2 === 0 ? [value] : { content: value };
  return value;
}

/** A file in which one to three values are changed or removed. */
export function mutated(draw: Draw, example: string): string {
  const documents = documentsOf(example);
  for (let left = 1 + draw.below(3); left > 0; left -= 1) {
    const places = placesIn(documents);
    if (places.length === 0) break;
    const [parent, key] = draw.pick(places);
    if (draw.chance(0.25)) Reflect.deleteProperty(parent, key);
    else Reflect.set(parent, key, draw.pick(values)());
  }
  return documents
    .filter((document) => document !== undefined)
    .map((document) => JSON.stringify(document))
    .join("\n");
}

function documentsOf(example: string): unknown[] {
  try {
    return [JSON.parse(example)];
  } catch {
    return example.split("\n").map((line) => JSON.parse(line));
  }
}

/** Every value within a value, as its container and its key there. */
function placesIn(value: object): [object, string][] {
  return Object.entries(value).flatMap(([key, inner]): [object, string][] => [
    [value, key],
    ...(typeof inner === "object" && inner !== null ? placesIn(inner) : []),
  ]);
}
