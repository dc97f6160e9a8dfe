import { z } from "zod";
import { boolean, count, storableText, string, stringOrNull } from "../text.ts";

/** The formats of recorded traces, in the order in which they are tried. */
export const DatasetFormat = z.enum([
  "presage",
  "llm-sim",
  "predictions",
  "agentworld",
  "atif",
  "sts",
  "claude-code",
  "codex",
  "openhands",
  "openhands-v0",
  "swe-agent",
  "tau",
  "inspect",
  "verifiers",
  "otel-genai",
  "openinference",
  "langfuse",
  "langsmith",
  "gemini",
  "openai-responses",
  "anthropic",
  "openai-chat",
  "sharegpt",
  "chatgpt",
  "steps",
  "chat",
]);
export type DatasetFormat = z.infer<typeof DatasetFormat>;

/** What the agent's call to its model took. */
export const SampleUsage = z
  .strictObject({
    prompt_tokens: z.int().min(0).optional().meta({
      description:
        "Tokens of the prompt, as the format counts them: in some formats, without the cached ones.",
    }),
    completion_tokens: z.int().min(0).optional().meta({ description: "Tokens of the answer." }),
    cached_tokens: z.int().min(0).optional().meta({ description: "Tokens that were read from a cache." }),
    cost_usd: z.number().min(0).optional().meta({ description: "What the call cost, in US dollars." }),
  })
  .meta({ id: "SampleUsage" });
export type SampleUsage = z.infer<typeof SampleUsage>;

/** Why a part of a trace is in no sample. */
export const LeftOutReason = z.enum([
  "reasoning",
  "text_beside_call",
  "last_message_of_agent",
  "call_without_answer",
  "answer_without_call",
  "side_chain",
  "branch",
  "call_of_simulated_user",
  "turn_without_loss",
  "media",
  "other_event",
]);
export type LeftOutReason = z.infer<typeof LeftOutReason>;

const counts = z.record(z.string(), z.int());

const ImportFault = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .meta({ description: "`body`, then `line` or `document`, its number from 1, and the field." }),
    msg: string("What is wrong there."),
    file: z.string().optional().meta({ description: "The file, if the upload has several." }),
  })
  .meta({ id: "ImportFault" });

const figures = {
  format: z
    .union([DatasetFormat, z.literal("mixed")])
    .meta({ description: "The format; `mixed` if files of several were uploaded together." }),
  files: z
    .array(
      z.object({
        file: stringOrNull("Its name, if it was given."),
        format: DatasetFormat.meta({ description: "Its format." }),
        recognised_by: string("What the format was recognised by."),
        reader_version: count("Counts the changes to how its reader reads a file."),
      }),
    )
    .meta({ description: "The files, in their order; of many, the first 100." }),
  left_out: z
    .partialRecord(LeftOutReason, z.int())
    .meta({ description: "What is in no sample: numbers of turns or blocks by reason." }),
  redacted: counts.meta({ description: "Numbers of secrets that were replaced, by kind." }),
  repaired: count("Texts from which NUL characters or lone surrogates were taken."),
  skipped: count("Lines or documents that were skipped as faulty."),
  faults: z.array(ImportFault).meta({ description: "The first 100 faults." }),
};

/** How the lines of a revision were made from traces. */
export const DatasetImport = z
  .object({
    ...figures,
    options: z
      .record(z.string(), z.string())
      .meta({ description: "The options of the upload that were given." }),
  })
  .meta({ id: "DatasetImport" });
export type DatasetImport = z.infer<typeof DatasetImport>;

/** A number from 0 to 1 in a query. */
const share = z.string().regex(/^(0|1|0?\.\d{1,6}|1\.0+)$/, "Input should be a number from 0 to 1");

/** The options of an import that say how turns become samples. */
export const importOptions = {
  format: z
    .enum(["auto", ...DatasetFormat.options])
    .optional()
    .meta({
      default: "auto",
      description:
        "The format: `GET /v1/imports/formats` describes them. By default it is recognised by the file's contents.",
    }),
  source: storableText().max(1_000).optional().meta({
    description: "The file's name, which trajectories without an id are named after.",
  }),
  on_fault: z.enum(["refuse", "skip"]).optional().meta({
    default: "refuse",
    description:
      "`skip` leaves out lines or documents that cannot be read, unless they are more than half. They are listed in `faults`.",
  }),
  assistant_is: z.enum(["agent", "environment"]).optional().meta({
    description:
      "Who the assistant of a conversation is. By default the agent if there is a tool call, a tool's message or `loss`, or in `conversations`; otherwise, in `messages`, the environment.",
  }),
  step: z.enum(["call", "turn"]).optional().meta({
    default: "call",
    description: "`turn`: all calls of an agent's turn are one action, a JSON array.",
  }),
  keep: z.enum(["thoughts"]).optional().meta({
    description:
      "`thoughts`: the first 256 characters of what an agent thought become the sample's tag `thought`.",
  }),
  score: storableText().min(1).max(200).optional().meta({
    description: "For logs with several scores, the one that is the reward. By default the first.",
  }),
  split_by: storableText()
    .regex(/^(trajectory|task|tag:[\s\S]{1,200})$/, "Input should be trajectory, task, or tag:NAME")
    .optional()
    .meta({
      description:
        "Gives each sample the tag `split`: `test`, `calibration` or `train`. All samples of a `trajectory`, of a `task`, or with the same value of a tag (`tag:NAME`), get the same one, in later uploads to the dataset too. Samples without a task or the tag are split by trajectory.",
      examples: ["task"],
    }),
  test: share
    .optional()
    .meta({ description: "With `split_by`: the share of groups that test. By default 0.2." }),
  calibration: share.optional().meta({
    description: "With `split_by`: the share of groups that calibrate confidences. By default none.",
  }),
  redact: z.enum(["default", "strict", "none"]).optional().meta({
    description:
      "What happens to secrets: `default` replaces API keys, tokens and passwords by their form, `strict` also values by their names, `none` nothing. If not given, `default`, but `none` for `presage`, `chat`, `llm-sim` and `predictions`.",
  }),
  redact_rules: storableText().min(1).max(8_192).optional().meta({
    description:
      "What else is replaced, as YAML or JSON: `rules`, a list of at most 50 of `{name, pattern}` (RE2), `emails: true` and `phones: true`. With rules `redact` is `default` or `strict`.",
  }),
};

/** Query of `POST /v1/imports/preview`. */
export const ImportPreviewQuery = z.object(importOptions);
export type ImportPreviewQuery = z.infer<typeof ImportPreviewQuery>;

const withCounts = z.object({
  time: count("Samples with a time."),
  usage: count("Samples with token counts."),
  reward: count("Samples with a reward."),
  done: count("Samples with which a trajectory is said to end."),
});

/** What an import would store. `Sample` is a dataset's sample. */
export function importPreviewOf<Sample extends z.ZodType>(sample: Sample) {
  return z.object({
    ...figures,
    trajectories: count("The number of trajectories."),
    samples: count("The number of samples."),
    tools: z.array(z.string()).meta({ description: "The tools that are called, by name; at most 100." }),
    with: withCounts.meta({ description: "How many samples have what." }),
    warnings: z.array(z.string()).optional().meta({ description: "What would be passed over, if anything." }),
    first: z.array(sample).meta({ description: "The first three samples." }),
    complete: boolean("False if only the first 64 MiB were read."),
    other_formats: z
      .array(
        z.object({
          format: DatasetFormat.meta({ description: "Its name." }),
          why_not: string("What it needs."),
        }),
      )
      .meta({ description: "The other formats, and what each needs that is not there." }),
  });
}

/** A format that can be imported. */
export const ImportFormat = z
  .object({
    format: DatasetFormat.meta({ description: "The format's name." }),
    title: string("Whose format it is."),
    recognised_by: string("How it is recognised."),
    trajectory: string("What is a trajectory, and where its id comes from."),
    action: string("What is an action."),
    answer: string("What is the environment's answer."),
    context: string("Where task, tools and system text come from."),
    also: string("Where reward, end, time and usage come from."),
    left_out: string("What is left out."),
    example: string("A small file of it."),
  })
  .meta({ id: "ImportFormat" });
export type ImportFormat = z.infer<typeof ImportFormat>;

/** Response of `GET /v1/imports/formats`. */
export const ImportFormatsResponse = z
  .object({
    data: z.array(ImportFormat).meta({ description: "The formats, in the order in which they are tried." }),
  })
  .meta({ id: "ImportFormatsResponse" });
export type ImportFormatsResponse = z.infer<typeof ImportFormatsResponse>;
