import { z } from "zod";
import { nextCursor, queryInteger } from "../query.ts";
import { storableText } from "../text.ts";

const instant = z.iso.datetime({ offset: true });

/** A tag that results of the account have. */
export const EvaluationTag = z
  .object({
    key: z.string().meta({ description: "The tag's name." }),
    value: z.string().meta({ description: "The tag's text." }),
    created_at: instant.meta({ description: "When the first result with this tag was stored." }),
    last_used: instant.meta({ description: "When the latest result with this tag was stored." }),
  })
  .meta({ id: "EvaluationTag" });
export type EvaluationTag = z.infer<typeof EvaluationTag>;

const position = z.tuple([storableText(), storableText()]);

/** The key and value of the tag that a page ends with, from its `next`. */
export function readTagCursor(text: string): { key: string; value: string } | undefined {
  try {
    const [key, value] = position.parse(JSON.parse(text));
    return { key, value };
  } catch {
    return undefined;
  }
}

export function writeTagCursor({ key, value }: { key: string; value: string }): string {
  return JSON.stringify([key, value]);
}

/** Query of `GET /v1/evaluation-results/tags`. */
export const EvaluationTagListQuery = z.object({
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({
    default: 1000,
    description: "The most tags to return.",
  }),
  after: z
    .string()
    .check(({ value, issues }) => {
      if (readTagCursor(value) !== undefined) return;
      const message = "Input should be the `next` of an earlier response";
      issues.push({ code: "custom", message, input: value });
    })
    .optional()
    .meta({
      pattern: '^\\["',
      description: "The `next` of an earlier response, to get the following page.",
    }),
});
export type EvaluationTagListQuery = z.infer<typeof EvaluationTagListQuery>;

/** Response of `GET /v1/evaluation-results/tags`: the tags of the account's results, by key and value. */
export const EvaluationTagListResponse = z
  .object({
    tags: z.array(EvaluationTag).meta({ description: "The tags, by key and value." }),
    next: nextCursor,
  })
  .meta({ id: "EvaluationTagListResponse" });
export type EvaluationTagListResponse = z.infer<typeof EvaluationTagListResponse>;
