import { z } from "zod";
import { maxComparedRuns } from "../evaluation/comparison.ts";
import { listOf, pageQuery } from "../query.ts";
import { dateTime, instant, storableText, string } from "../text.ts";

/** What a link can show. */
export const ShareKind = z.enum(["run", "comparison", "reality-check"]);
export type ShareKind = z.infer<typeof ShareKind>;

/** How many days a link works unless its creator says otherwise. */
export const defaultShareDays = 30;
/** The most days that a link can work: a year. */
export const maxShareDays = 366;

const ids = z.array(z.string());
const withTexts = z.boolean().meta({
  description:
    "Whether the link shows texts: those of samples and predictions, notes, a run's target and params, and a reality check's actions and policies. If not, only names and figures.",
});

/** Body of `POST /v1/shares`. */
export const ShareCreateRequest = z
  .strictObject({
    kind: ShareKind.meta({ description: "What to show." }),
    ids: z
      .array(storableText().min(1).max(200))
      .min(1)
      .max(maxComparedRuns)
      .meta({
        description: `The id of the run or the reality check; for a comparison, 2 to ${maxComparedRuns} ids of runs, the reference first.`,
      }),
    expires_at: dateTime()
      .nullish()
      .meta({
        description: `When the link stops working, at most ${maxShareDays} days from now. UTC if no offset is given. If null, in ${defaultShareDays} days.`,
      }),
    with_texts: withTexts.default(false),
  })
  .meta({ id: "ShareCreateRequest" });
export type ShareCreateRequest = z.input<typeof ShareCreateRequest>;

/** A link without its secret. */
export const Share = z
  .object({
    id: z.uuid().meta({ description: "The link's id. It is not secret." }),
    kind: ShareKind.meta({ description: "What it shows." }),
    ids: ids.meta({ description: "The id of the run or the reality check, or those of the compared runs." }),
    with_texts: withTexts,
    user_id: z.uuid().meta({ description: "The user who made it. It stops working when their access ends." }),
    created_at: instant.meta({ description: "When it was made." }),
    expires_at: instant.meta({ description: "When it stops working." }),
  })
  .meta({ id: "Share" });
export type Share = z.infer<typeof Share>;

/** Response of `POST /v1/shares`, the only one with the link itself. */
export const ShareCreateResponse = Share.extend({
  path: string(
    "The link, relative to the address of the server. Anyone who has it sees what it shows. It is not stored, and is returned only once.",
  ),
}).meta({ id: "ShareCreateResponse" });
export type ShareCreateResponse = z.infer<typeof ShareCreateResponse>;

/** Query of `GET /v1/shares`. */
export const ShareListQuery = z.object({
  ids: storableText()
    .optional()
    .meta({
      description:
        "One or more ids, separated by commas: only links to this run or reality check, or to the comparison of these runs.",
      examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41"],
    }),
  ...pageQuery(),
});

/** Response of `GET /v1/shares`. */
export const ShareListResponse = listOf("ShareListResponse", Share, "Newest first.");

/** Path parameters of one link. */
export const SharePath = z.object({
  id: z.guid().meta({
    format: "uuid",
    description: "The link's id.",
    examples: ["01a2015d-17f6-75b4-a7a7-ccd9f62a3a59"],
  }),
});
