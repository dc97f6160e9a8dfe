import { composePrompt } from "@presage/contract/compose-prompt";
import type { WorldModelRequest } from "@presage/sdk";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { sentFields } from "./sent-fields.ts";

const turns = { system: "System turn", user: "User turn" } as const;

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
