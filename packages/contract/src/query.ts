import { z } from "zod";

const trueWord = /^(1|true|t|yes|y|on)$/i;
/** A time in microseconds, a dot and an id. */
const cursor = /^\d{1,16}\.[\w-]{1,64}$/;
const decimal = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;
const falseWord = /^(0|false|f|no|n|off)$/i;

/** A whole number in a query string. Convert a valid one with `Number`. */
export function queryInteger(bounds: { minimum: number; maximum?: number }) {
  const { minimum, maximum = Number.POSITIVE_INFINITY } = bounds;
  return z
    .string()
    .check(({ value, issues }) => {
      const bound = { origin: "number", inclusive: true, input: value } as const;
      if (!/^[+-]?\d+$/.test(value)) issues.push({ code: "invalid_format", format: "int", input: value });
      else if (Number(value) < minimum) issues.push({ ...bound, code: "too_small", minimum });
      else if (Number(value) > maximum) issues.push({ ...bound, code: "too_big", maximum });
    })
    .meta({ type: "integer", ...bounds });
}

/** A boolean in a query string, in any form that pydantic accepts. Convert a valid one with `isTrueWord`. */
export function queryBoolean() {
  return z
    .string()
    .check(({ value, issues }) => {
      if (trueWord.test(value) || falseWord.test(value)) return;
      issues.push({ code: "invalid_format", format: "bool", input: value });
    })
    .meta({ type: "boolean" });
}

/** Whether a word that `queryBoolean` accepted means true. */
export function isTrueWord(word: string): boolean {
  return trueWord.test(word);
}

/** A number in a query string. Convert a valid one with `Number`. */
export function queryNumber() {
  return z
    .string()
    .check(({ value, issues }) => {
      if (decimal.test(value) && Number.isFinite(Number(value))) return;
      issues.push({ code: "invalid_format", format: "float", input: value });
    })
    .meta({ type: "number" });
}

/** The message for an `after` that no response returned. */
export const wrongCursor = "Input should be the `next` of an earlier response";

/** How many items a page has unless its query says otherwise. */
export const defaultPageLimit = 1_000;
/** The same for revisions, which may be long. */
export const defaultRevisionLimit = 50;

interface PageLimit {
  noun?: string;
  default?: number;
  maximum?: number;
}

/** The most items of a page. */
export function pageLimit({ noun = "items", default: usual = defaultPageLimit, maximum = 1_000 }: PageLimit) {
  return queryInteger({ minimum: 1, maximum })
    .optional()
    .meta({ default: usual, description: `Maximum number of ${noun} on the page.` });
}

/** The paging parameters of a list whose response has `next`. */
export function pageQuery({
  next = cursor,
  ...limit
}: PageLimit & {
  /** The pattern of the list's `next`. */
  next?: RegExp;
} = {}) {
  return {
    limit: pageLimit(limit),
    after: z
      .string()
      .check(({ value, issues }) => {
        if (next.test(value)) return;
        issues.push({
          code: "custom",
          message: wrongCursor,
          input: value,
        });
      })
      .optional()
      .meta({
        pattern: next.source,
        description: "The `next` of an earlier response, to get the following page.",
      }),
  };
}

/** The paging parameters of a list whose items are numbered and whose `next` is such a number. */
export function numberedPageQuery({ first, ...limit }: PageLimit & { first: 0 | 1 }) {
  return {
    limit: pageLimit(limit),
    after: queryInteger({ minimum: first, maximum: Number.MAX_SAFE_INTEGER })
      .optional()
      .meta({ description: "The `next` of an earlier response, to get the following page." }),
  };
}

/** The paging parameters of a list that is paged by offset. */
export function pageFields(limit: PageLimit = {}) {
  return {
    limit: pageLimit(limit),
    offset: queryInteger({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
      .optional()
      .meta({ default: 0, description: "Number of items to skip." }),
  };
}

/** The paging field of a list's response. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: "Send it as `after` to get the next page; null on the last page." });

/** The response of a list in pages. */
export function listOf<Item extends z.ZodType>(id: string, item: Item, description: string) {
  return z.object({ data: z.array(item).meta({ description }), next: nextCursor }).meta({ id });
}
