import { z } from "zod";
import type { Requester } from "../../platform/storage/reader.ts";
import { needsModel } from "../evaluation-error.ts";
import { defineFamily } from "../family.ts";
import { type SampleField, sampleFieldNames } from "../sample.ts";
import type { AskForVerdict } from "./ask-for-verdict.ts";
import { judgeProfiles } from "./judge-profiles.ts";
import { type CorrectedExample, judgeQuestion } from "./prompts.ts";
import type { VerdictForm } from "./verdict-form.ts";

const maxCriteriaCharacters = 20_000;
const maxExamples = 8;

const optionalFields = ["systemPrompt", "retrievedContext", "input", "goldAnswer"] as const;

const config = z.strictObject({
  pass_criteria: z.string().min(1).max(maxCriteriaCharacters).regex(/\S/, "Criteria must not be blank").meta({
    description: "What an output must be like to pass, in plain words.",
  }),
  active_learning_enabled: z.boolean().default(false).meta({
    description: "Show the judge the results of this profile that people corrected last.",
  }),
  pass_score: z.number().min(0).max(1).default(0.5).meta({
    description:
      "Where passing begins: a pass with a lower score and a fail with a higher one are contradictions, which give no verdict. At this score, both are allowed.",
  }),
  required_fields: z
    .array(z.enum(optionalFields.map((field) => sampleFieldNames[field])))
    .default([])
    .meta({
      description:
        "Fields besides the output that the criteria refer to. A sample without them is not judged.",
    }),
});
export type JudgeConfig = z.output<typeof config>;

interface JudgeVerdict {
  reasoning: string;
  verdict: "pass" | "fail";
  score?: number | null | undefined;
}

function formWith(passScore: number): VerdictForm<JudgeVerdict> {
  return {
    name: "give_verdict",
    decidingKey: "verdict",
    jsonSchema: {
      type: "object",
      properties: {
        reasoning: { type: "string" },
        verdict: { type: "string", enum: ["pass", "fail"] },
        score: { anyOf: [{ type: "number" }, { type: "null" }] },
      },
      required: ["reasoning", "verdict", "score"],
      additionalProperties: false,
    },
    schema: z.object({
      reasoning: z.string().regex(/\S/),
      // Letter case and white space are ignored; any other word is rejected.
      verdict: z
        .string()
        .trim()
        .toLowerCase()
        .pipe(z.enum(["pass", "fail"])),
      score: z.number().min(0).max(1).nullish(),
    }),
    contradictionIn({ verdict, score }) {
      if (typeof score !== "number" || (verdict === "pass" ? score >= passScore : score <= passScore))
        return undefined;
      return `With the verdict "pass" a score is ${passScore} or above, with "fail" it is ${passScore} or below.`;
    },
  };
}

export interface JudgeOptions {
  /** Undefined if no model is configured. */
  askForVerdict: AskForVerdict | undefined;
  /** The account's most recently corrected results of a profile, the newest first. */
  findCorrections(requester: Requester, profilePublicId: string, limit: number): Promise<CorrectedExample[]>;
}

/** A model decides by the criteria of the profile. */
export function createJudgeFamily({ askForVerdict, findCorrections }: JudgeOptions) {
  return defineFamily({
    kind: "model",
    name: "judge",
    description: "A model decides whether the output meets the profile's criteria.",
    versions: ["2026-11-24", "2026-11-21"],
    needs: ["output"],
    takes: optionalFields,
    needsWith: ({ required_fields }) => fieldsNamed(required_fields),
    config,
    builtInProfiles: judgeProfiles,
    async evaluate(sample, call) {
      if (askForVerdict === undefined) throw needsModel();
      const { config: profile, accountId, profilePublicId, signal } = call;
      const examples = profile.active_learning_enabled
        ? await findCorrections({ accountId, signal }, profilePublicId, maxExamples)
        : [];
      const question = judgeQuestion(profile.pass_criteria, sample, examples);
      const { value, asked } = await askForVerdict(question, formWith(profile.pass_score), call);
      const { verdict, score, reasoning } = value;
      return { pass: verdict === "pass", score: score ?? undefined, extra: asked, explain: () => reasoning };
    },
  });
}

function fieldsNamed(names: readonly string[]): SampleField[] {
  return optionalFields.filter((field) => names.includes(sampleFieldNames[field]));
}
