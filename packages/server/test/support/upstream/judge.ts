import { beforeEach, expect } from "bun:test";
import { type AskForVerdict, createAskForVerdict } from "../../../src/evaluators/judge/ask-for-verdict.ts";
import {
  createJudgeFamily,
  type JudgeConfig,
  type JudgeOptions,
} from "../../../src/evaluators/judge/judge.ts";
import { EvaluationError, type Sample, type Verdict } from "../../../src/evaluators/outcome.ts";
import { createRetryBudget } from "../../../src/platform/limits/deadline.ts";
import { createFairSlots } from "../../../src/platform/limits/turns.ts";
import { createUpstream } from "../../../src/upstream/create-upstream.ts";
import { completion, type ReceivedRequest, type TestUpstream } from "./upstream.ts";
import { useUpstream } from "./use-upstream.ts";

export const passing = { reasoning: "All is as it must be.", verdict: "pass" };
export const failing = { reasoning: "The door is shut.", verdict: "fail" };

/** A model's response with these fields of its choice. */
export function answerWith(message: Record<string, unknown>, finishReason = "stop"): Response {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason }];
  return Response.json(completion(null, { choices }));
}

export function say(content: unknown): Response {
  return answerWith({ content: typeof content === "string" ? content : JSON.stringify(content) });
}

export function callTool(name: string, given: unknown): Response {
  const call = { id: "call-1", type: "function", function: { name, arguments: JSON.stringify(given) } };
  return answerWith({ content: null, tool_calls: [call] }, "tool_calls");
}

export function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { message } }, { status, headers });
}

/** The response format that a request asks for. */
export function responseFormatOf({ body }: ReceivedRequest): "json_schema" | "tool_call" | "text" {
  if (body.response_format !== undefined) return "json_schema";
  return body.tools === undefined ? "text" : "tool_call";
}

export function promptOf(received: ReceivedRequest | undefined): string {
  return received?.body.messages.map(({ content }) => content).join("\n\n") ?? "";
}

export const config: JudgeConfig = {
  pass_criteria: "The door is open.",
  active_learning_enabled: false,
  pass_score: 0.5,
  required_fields: [],
};

export interface TestJudge {
  judge(
    sample?: Sample,
    more?: Partial<JudgeConfig>,
    signal?: AbortSignal,
    requester?: { accountId: string; profilePublicId: string },
  ): Promise<Verdict>;
  /** The error that judging must end with. */
  failure(sample?: Sample, signal?: AbortSignal): Promise<EvaluationError>;
}

export function createTestAskForVerdict(upstream: TestUpstream): AskForVerdict {
  const { complete } = createUpstream({
    name: "default",
    urls: [upstream.url],
    apiKey: "secret-of-the-upstream",
    model: undefined,
    timeoutMs: 5_000,
    retries: 0,
  });
  const slots = createFairSlots({ slots: 100 });
  return createAskForVerdict({ complete, slots });
}

/** A judge that calls the upstream over HTTP, and has not learned anything about its model. */
export function createTestJudge(
  upstream: TestUpstream,
  findCorrections: JudgeOptions["findCorrections"] = async () => [],
): TestJudge {
  const askForVerdict = createTestAskForVerdict(upstream);
  const family = createJudgeFamily({ askForVerdict, findCorrections });
  const judge: TestJudge["judge"] = (
    sample = { output: "The door is open." },
    more = {},
    signal = new AbortController().signal,
    requester = { accountId: "account", profilePublicId: "profile" },
  ) =>
    family.evaluate(sample, {
      ...requester,
      config: { ...config, ...more },
      signal,
      mayRetry: createRetryBudget(),
    });
  return {
    judge,
    async failure(sample, signal) {
      const error = await judge(sample, {}, signal).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(EvaluationError);
      const failure = error as EvaluationError;
      expect(failure.message).not.toContain("secret-of");
      return failure;
    },
  };
}

/** A judge and its upstream for the tests of this block; each test starts with a new judge and no received requests. */
export function useTestJudge(): TestJudge & { upstream: TestUpstream } {
  const upstream = useUpstream();
  let current: TestJudge;
  beforeEach(() => {
    upstream.received.length = 0;
    current = createTestJudge(upstream);
  });
  return {
    upstream,
    judge: (...given) => current.judge(...given),
    failure: (...given) => current.failure(...given),
  };
}
