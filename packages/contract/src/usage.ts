import { z } from "zod";
import { ErrorCategory } from "./errors.ts";

const instant = z.iso.datetime({ offset: true });

/** What a request was for. */
export const UsageOperation = z.enum(["predict", "chat", "evaluate"]);
export type UsageOperation = z.infer<typeof UsageOperation>;

const outcomes = [...ErrorCategory.options, "invalid", "other"] as const;

/** Why a request failed: an error's category, `invalid` for one that was refused as it stood, `other` for the rest. */
export const UsageFailure = z.enum(outcomes);
export type UsageFailure = z.infer<typeof UsageFailure>;

const asked = z.iso.datetime({ offset: true, local: true });
const period = {
  since: asked.optional().meta({
    format: "date-time",
    description:
      "Counted from the step that this falls in. Without an offset it is read as UTC. Absent: 7 days before until.",
  }),
  until: asked.optional().meta({
    format: "date-time",
    description: "Hours that begin before this are counted, as a whole. Absent: now.",
  }),
  step: z.enum(["hour", "day"]).optional().meta({ default: "day", description: "Days are UTC days." }),
};

/** Query of `GET /v1/usage`. At most 400 days, or 31 days by the hour, and no more than 100,000 rows, or it is refused at `since`. */
export const UsageQuery = z.object({
  ...period,
  api_key_id: z.guid().optional().meta({ format: "uuid" }),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** What one key asked for in one step of time. */
export const UsageRow = z
  .object({
    start: instant.meta({ description: "Where the step begins." }),
    api_key_id: z.uuid().nullable().meta({ description: "Null: asked by people in the dashboard." }),
    operation: UsageOperation,
    requests: z.int(),
    failures: z.partialRecord(UsageFailure, z.int()).meta({ description: "Of these requests, by reason." }),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
  })
  .meta({ id: "UsageRow" });
export type UsageRow = z.infer<typeof UsageRow>;

/** A key that a row names, of whichever user of the account. */
export const UsageKey = z
  .object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string(),
    last_four: z.string(),
    revoked_at: instant.nullable(),
  })
  .meta({ id: "UsageKey" });
export type UsageKey = z.infer<typeof UsageKey>;

/** Answer of `GET /v1/usage`: the account's requests and tokens, right to about 10 s. Steps without a request have no row. */
export const UsageResponse = z
  .object({
    since: instant,
    until: instant,
    step: z.enum(["hour", "day"]),
    data: z.array(UsageRow).meta({ description: "Oldest first." }),
    api_keys: z.array(UsageKey).meta({ description: "The keys that the rows name." }),
  })
  .meta({ id: "UsageResponse" });
export type UsageResponse = z.infer<typeof UsageResponse>;

/** Query of `GET /v1/usage/latency`. */
export const LatencyQuery = z.object(period);
export type LatencyQuery = z.infer<typeof LatencyQuery>;

const quantiles = z
  .object({ p50: z.number(), p95: z.number() })
  .nullable()
  .meta({ description: "Milliseconds, right to about 5 %; null where nothing was measured." });

/** How long predictions took: as a whole, and without what the upstream took. */
export const Latency = z
  .object({ count: z.int(), total_ms: quantiles, overhead_ms: quantiles })
  .meta({ id: "Latency" });
export type Latency = z.infer<typeof Latency>;

/** Answer of `GET /v1/usage/latency`: the account's predictions that reached the upstream. */
export const LatencyResponse = z
  .object({
    since: instant,
    until: instant,
    step: z.enum(["hour", "day"]),
    overall: Latency,
    data: z.array(Latency.extend({ start: instant })).meta({ description: "Oldest first." }),
  })
  .meta({ id: "LatencyResponse" });
export type LatencyResponse = z.infer<typeof LatencyResponse>;
