import { type Arbitrary, Random } from "fast-check";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** The source of all randomness. The same seed and index give the same draws. */
export interface Draw {
  value<T>(arbitrary: Arbitrary<T>): T;
  /** Uniform from 0 to `count` - 1. */
  below(count: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T;
}

/** One value in four is one that fast-check considers likely to break something. */
const biasFactor = 4;

const warmUp = 16;

export function createDraw(seed: number, index: number): Draw {
  const random = new Random(xoroshiro128plus(mixed(seed, index)));
  // The first numbers of neighbouring seeds are similar.
  for (let left = warmUp; left > 0; left -= 1) random.nextInt();
  const draw: Draw = {
    value: (arbitrary) => arbitrary.generate(random, biasFactor).value,
    below: (count) => random.nextInt(0, count - 1),
    chance: (probability) => random.nextDouble() < probability,
    pick(items) {
      if (items.length === 0) throw new Error("There is nothing to pick from.");
      return items[draw.below(items.length)] as (typeof items)[number];
    },
  };
  return draw;
}

/** MurmurHash3's finalizer: each bit of either number changes half of the result's bits. */
function mixed(seed: number, index: number): number {
  let hash = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}

/** Literal JSON text within a value, for JSON that no JavaScript value serialises to. */
export interface RawJson {
  readonly [rawText]: string;
}

const rawText = Symbol("raw JSON");

export function rawJson(text: string): RawJson {
  return { [rawText]: text };
}

export function isRawJson(value: unknown): value is RawJson {
  return typeof value === "object" && value !== null && rawText in value;
}

/** Serialises a value as JSON, with its raw pieces unchanged. */
export function writeJson(value: unknown): string {
  const pieces: string[] = [];
  if (isRawJson(value)) return value[rawText];
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (isRawJson(part)) return `\u0001${pieces.push(part[rawText]) - 1}\u0001`;
    return Object.is(part, -0) ? `\u0001${pieces.push("-0") - 1}\u0001` : part;
  });
  if (text === undefined) return "";
  return text.replace(/"\\u0001(\d+)\\u0001"/g, (_, number: string) => pieces[Number(number)] ?? "");
}

/** Kinds of objects that responses contain and later requests refer to. */
export type ReferenceKind =
  | "apiKey"
  | "session"
  | "result"
  | "profile"
  | "profileName"
  | "revision"
  | "taxonomy"
  | "orsSession"
  | "orsTask"
  | "episode";

const pattern = /@@(\w+):(\d+)@@/g;

/** A placeholder for an id from an earlier response, replaced when the request is sent. */
export function reference(draw: Draw, kind: ReferenceKind): string {
  return `@@${kind}:${draw.below(1_000_000)}@@`;
}

/** Replaces the placeholders with what `find` returns. */
export function resolveReferences(
  text: string,
  find: (kind: ReferenceKind, number: number) => string,
): string {
  return text.replace(pattern, (_, kind: ReferenceKind, number: string) => find(kind, Number(number)));
}
