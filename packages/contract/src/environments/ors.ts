import { z } from "zod";
import { count, storableText } from "../text.ts";

// The bodies of the Open Reward Standard, as its public client sends them. Unknown fields are ignored.

const text = storableText();
const split = text.meta({ description: "`train`, `validation` or `test`." });
const index = count("Where in the split the task is; counted from 0.");

/** The beginning of a path. */
export const OrsPath = z.object({ env: text });

/** Body of `POST /{environment}/tasks` and `/num_tasks`. */
export const OrsSplit = z.looseObject({ split });

/** Body of `POST /{environment}/task`. */
export const OrsTaskPlace = z.looseObject({ split, index });

/** Body of `POST /{environment}/task_range`. Negative numbers count from the end. */
export const OrsTaskRange = z.looseObject({
  split,
  start: z.int().nullish().meta({ description: "Index of the first task; the split's first if it is null." }),
  stop: z
    .int()
    .nullish()
    .meta({ description: "Index after the last task; to the split's end if it is null." }),
});

/** Body of `POST /create`: a task as the server listed it, or its place. With a place, the client names no environment. */
export const OrsCreateRequest = z.looseObject({
  env_name: text.nullish(),
  task_spec: z.looseObject({ split: text, index: z.int() }).nullish(),
  split: text.nullish(),
  index: z.int().nullish(),
});
export type OrsCreateRequest = z.infer<typeof OrsCreateRequest>;

/** Body of `POST /{environment}/call`. */
export const OrsCallRequest = z.looseObject({
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  task_id: z.string().max(200).nullish(),
});

interface OrsTextBlock {
  type: "text";
  text: string;
  detail: null;
}

/** What a call returns. */
export type OrsCallResult =
  | {
      ok: true;
      output: {
        /** Empty if no observation was predicted. */
        blocks: OrsTextBlock[];
        metadata: Record<string, unknown>;
        reward: number | null;
        finished: boolean;
      };
    }
  | { ok: false; error: string };

/** A text block of an answer, as in the Open Reward Standard. */
export function orsText(text: string): OrsTextBlock {
  return { type: "text", text, detail: null };
}
