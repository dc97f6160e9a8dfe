import { isCountedModelName } from "../counted-model-name.ts";
import type { ChatEnd } from "./tracing.ts";

/** What is asked speaks OpenAI's protocol; who runs it is not known. */
const provider = "openai";

type Attributes = Record<string, string | number | string[] | undefined>;

/** Of a call to a model, before it: docs/decisions/0044-opentelemetry.md. */
export function chatRequestAttributes(request: Readonly<Record<string, unknown>>): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": modelNameOf(request.model),
    "gen_ai.request.max_tokens": numberOf(request.max_tokens),
    "gen_ai.request.temperature": numberOf(request.temperature),
    "gen_ai.request.top_p": numberOf(request.top_p),
    "gen_ai.request.seed": numberOf(request.seed),
  };
}

export function chatResponseAttributes(end: ChatEnd): Attributes {
  const { finishReason, promptTokens, completionTokens, source } = end;
  return {
    ...servedBy(end),
    "gen_ai.response.finish_reasons": typeof finishReason === "string" ? [finishReason] : undefined,
    "gen_ai.usage.input_tokens": promptTokens,
    "gen_ai.usage.output_tokens": completionTokens,
    "presage.cache": source,
  };
}

/** What a metric of a call tells apart: a few values each, so the models are of a limited number. */
export function chatMetricAttributes(models: ModelNames, end?: ChatEnd): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    ...(end && addressOf(end)),
    ...namesOf(models),
  };
}

interface ModelNames {
  requested: string | undefined;
  answered?: string | undefined;
}

function namesOf({ requested, answered }: ModelNames): Attributes {
  return {
    ...(requested === undefined ? {} : { "gen_ai.request.model": requested }),
    "gen_ai.response.model": answered,
  };
}

function servedBy(end: ChatEnd): Attributes {
  const { model, sentModel } = end;
  return {
    ...namesOf({ requested: modelNameOf(sentModel), answered: modelNameOf(model) }),
    ...addressOf(end),
  };
}

function addressOf({ replica }: ChatEnd): Attributes {
  const address = replica === undefined ? undefined : new URL(replica);
  return {
    "server.address": address?.hostname,
    "server.port": address && Number(address.port || (address.protocol === "https:" ? 443 : 80)),
  };
}

/** Callers name models as they like, and what is no name is not exported: it may be of megabytes. */
export function modelNameOf(value: unknown): string | undefined {
  return typeof value === "string" && isCountedModelName(value) ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
