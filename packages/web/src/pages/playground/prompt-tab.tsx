import { composePrompt } from "@presage/contract/compose-prompt";
import { samplingDefaults } from "@presage/contract/defaults";
import type { Params, PromptMessage, World, WorldModelRequest } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { worldPreviewQuery } from "../../data/worlds.ts";
import { PromptTurns } from "../../parts/prompt.tsx";
import { isOfRecords, paramsOf } from "../../parts/worlds.ts";
import { Awaited } from "../../ui/notice.tsx";

interface PromptTabProps {
  request: WorldModelRequest;
  model: string | undefined;
  world: World | undefined;
}

/** Exactly what the model will read. */
export function PromptTab({ request, model, world }: PromptTabProps) {
  if (world !== undefined) return <WorldPrompt request={request} world={world} />;
  return (
    <div className="flex flex-col gap-4 p-4">
      <Turns messages={composePrompt(request.context, request.interaction)} />
      <SentFields fields={sentFields(request.params, model)} />
    </div>
  );
}

function Turns({ messages }: { messages: readonly PromptMessage[] }) {
  return (
    <>
      <PromptTurns turns={messages} />
      {messages.length === 1 && (
        <p className="text-xs text-ink-3">There is no system turn: every section of the context is empty.</p>
      )}
    </>
  );
}

const settledMs = 400;

/** The turns of a world's prompt, whose examples depend on the step. */
function WorldPrompt({ request, world: { config } }: { request: WorldModelRequest; world: World }) {
  const { context, interaction, params, world = "" } = request;
  const asked = JSON.stringify({ context, interaction });
  const [settled, setSettled] = useState(asked);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(asked), settledMs);
    return () => clearTimeout(timer);
  }, [asked]);
  const isComplete = interaction.state !== "" && interaction.action !== "";
  const preview = useQuery({
    ...worldPreviewQuery(usePresage(), world ?? "", JSON.parse(settled)),
    enabled: isComplete && settled === asked,
    placeholderData: (before) => before,
  });
  if (!isComplete)
    return (
      <p className="p-4 text-sm text-ink-2">
        Write a state and an action: the examples in the prompt are those that are most like them.
      </p>
    );
  if (preview.data === undefined)
    return <Awaited error={preview.error} onRetry={preview.refetch} count={4} className="h-16" />;
  return (
    <div className="flex flex-col gap-4 p-4">
      {isOfRecords(config) && (
        <p className="text-sm text-ink-2">
          No model is asked: the answer is made of the most similar example, the last one here.
        </p>
      )}
      <Turns messages={preview.data.messages} />
      {!isOfRecords(config) && (
        <SentFields fields={sentFields({ ...paramsOf(config), ...params }, undefined)} />
      )}
    </div>
  );
}

function SentFields({ fields }: { fields: readonly SentField[] }) {
  return (
    <section aria-label="The request’s other fields">
      <h3 className="mb-1 text-xs font-medium text-ink-3">Also in the request</h3>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 rounded-md border border-line px-3 py-2 font-mono text-xs">
        {fields.map(({ name, value, note }) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="text-ink-2">{name}</dt>
            <dd className="wrap-anywhere">
              {value}
              {note !== undefined && <span className="ml-2 font-sans text-ink-3">{note}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface SentField {
  name: string;
  /** Formatted as JSON, to tell strings from numbers. */
  value: string;
  note?: string | undefined;
}

const notes: Record<string, string> = {
  enable_thinking: "also sent as chat_template_kwargs.enable_thinking",
  reasoning_budget: "also sent as reasoning_effort",
};

/** The fields that are sent to the model in addition to the messages. */
export function sentFields(params: Params | undefined, model: string | undefined): SentField[] {
  const set = Object.entries(params ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const names = new Set(set.map(([name]) => name));
  // `max_completion_tokens` is the newer name of the same limit, so it replaces the default.
  if (names.has("max_completion_tokens")) names.add("max_tokens");
  const { max_tokens, temperature, top_p } = samplingDefaults;
  const defaults = Object.entries({ max_tokens, temperature, top_p }).filter(([name]) => !names.has(name));
  const modelField: SentField[] =
    names.has("model") || model === undefined
      ? []
      : [{ name: "model", value: JSON.stringify(model), note: "server default" }];
  return [
    ...modelField,
    ...defaults.map(([name, value]) => ({ name, value: JSON.stringify(value), note: "default" })),
    ...set.map(([name, value]) => ({ name, value: JSON.stringify(value), note: notes[name] })),
  ];
}
