import { composePrompt } from "@presage/contract/compose-prompt";
import { samplingDefaults } from "@presage/contract/sampling-defaults";
import type { Params, WorldModelRequest } from "@presage/sdk";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";

const turns = { system: "System turn", user: "User turn", assistant: "Answer" } as const;

/** Exactly what the model will read. */
export function PromptTab({ request, model }: { request: WorldModelRequest; model: string | undefined }) {
  const messages = composePrompt(request.context, request.interaction);
  return (
    <div className="flex flex-col gap-4 p-4">
      {messages.map(({ role, content }) => (
        <PlainText key={role} text={content} label={turns[role]} />
      ))}
      {messages.length === 1 && (
        <p className="text-xs text-ink-3">There is no system turn: every section of the context is empty.</p>
      )}
      <section aria-label="The request’s other fields">
        <h3 className="mb-1 text-xs font-medium text-ink-3">Also in the request</h3>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 rounded-md border border-line px-3 py-2 font-mono text-xs">
          {sentFields(request.params, model).map(({ name, value, note }) => (
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
    </div>
  );
}

interface SentField {
  name: string;
  /** As JSON, to tell strings from numbers. */
  value: string;
  note?: string | undefined;
}

const notes: Record<string, string> = {
  enable_thinking: "also sent as chat_template_kwargs.enable_thinking",
  reasoning_budget: "also sent as reasoning_effort",
};

/** What is sent to the model besides the messages. */
export function sentFields(params: Params | undefined, model: string | undefined): SentField[] {
  const set = Object.entries(params ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const names = new Set(set.map(([name]) => name));
  // The newer name of the same limit replaces the default.
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
