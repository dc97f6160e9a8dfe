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
