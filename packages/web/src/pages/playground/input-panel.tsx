import type { Context, World } from "@presage/sdk";
import { type KeyboardEvent, type ReactNode, type Ref, useId, useState } from "react";
import { counted } from "../../format/numbers.ts";
import {
  type ContextField as ContextFieldName,
  contextSections,
  type Draft,
  type Issues,
} from "../../parts/playground-draft.ts";
import { isOfRecords } from "../../parts/worlds.ts";
import { Card, Disclosure } from "../../ui/card.tsx";
import { TextAreaField } from "../../ui/form/fields.tsx";
import { TextArea } from "../../ui/form/inputs.tsx";
import { ParamsFields } from "./params-fields.tsx";

interface InputPanelProps {
  ref: Ref<HTMLFormElement>;
  draft: Draft;
  /** Settings that the world determines are not asked for. */
  world: World | undefined;
  issues: Issues;
  onChange(part: Partial<Draft>): void;
  onSubmit(): void;
  /** To the right of the title. */
  actions: ReactNode;
  /** Stays visible below the fields. */
  footer: ReactNode;
}

export function InputPanel({
  ref,
  draft,
  world,
  issues,
  onChange,
  onSubmit,
  actions,
  footer,
}: InputPanelProps) {
  const { context, state, action, params } = draft;

  function submitByKey(event: KeyboardEvent) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSubmit();
  }

  return (
    <form
      ref={ref}
      aria-label="Input"
      noValidate
      onKeyDown={submitByKey}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      className="flex min-h-0 min-w-0 flex-col"
    >
      <Card title="Input" actions={actions} className="flex min-h-0 flex-1 flex-col">
        <div className="min-h-0 flex-1 overflow-y-auto">
          <ContextFields
            context={context}
            given={world?.config.context ?? {}}
            issues={issues}
            onChange={(context) => onChange({ context })}
          />
          <div className="flex flex-col gap-4 border-b border-line p-4">
            <TextAreaField
              label="State"
              hint="What the agent sees before it acts, in the environment’s own words."
              issue={issues["interaction.state"]}
              aside={<CharacterCount text={state} />}
              className="min-h-28"
              value={state}
              onChange={(text) => onChange({ state: text })}
            />
            <TextAreaField
              label="Action"
              hint="What the agent does: a command, a click, a tool call."
              issue={issues["interaction.action"]}
              aside={<CharacterCount text={action} />}
              className="min-h-10"
              value={action}
              onChange={(text) => onChange({ action: text })}
            />
          </div>
          {!(world && isOfRecords(world.config)) && (
            <ParamsFields
              params={params}
              world={world}
              issues={issues}
              onChange={(params) => onChange({ params })}
            />
          )}
        </div>
        <footer className="sticky bottom-0 flex flex-wrap items-center gap-3 rounded-b-lg border-t border-line bg-surface px-4 py-3">
          {footer}
        </footer>
      </Card>
    </form>
  );
}

interface ContextFieldsProps {
  context: Draft["context"];
  /** The sections that the world provides. */
  given: Context;
  issues: Issues;
  onChange(context: Draft["context"]): void;
}

/** Each section is one line until it is opened, so that the state and the action stay visible. */
function ContextFields({ context, given, issues, onChange }: ContextFieldsProps) {
  const [toggled, setToggled] = useState<Partial<Record<ContextFieldName, boolean>>>({});
  const isGiven = ({ field }: { field: ContextFieldName }) => Boolean(given[field]) && context[field] === "";
  const hidden = contextSections.filter(isGiven);
  return (
    <fieldset className="min-w-0 border-b border-line">
      <legend className="sr-only">Context</legend>
      {hidden.length > 0 && (
        <p className="border-b border-line px-4 py-2 text-xs text-ink-3">
          The world gives: {hidden.map(({ label }) => label.toLowerCase()).join(", ")}.
        </p>
      )}
      {contextSections
        .filter((section) => !isGiven(section))
        .map(({ field, label, hint }) => (
          <ContextField
            key={field}
            label={label}
            hint={hint}
            text={context[field]}
            issue={issues[`context.${field}`]}
            isOpen={toggled[field] ?? false}
            onToggle={(isOpen) => setToggled({ ...toggled, [field]: isOpen })}
            onChange={(text) => onChange({ ...context, [field]: text })}
          />
        ))}
    </fieldset>
  );
}

interface ContextFieldProps {
  label: string;
  hint: string;
  text: string;
  issue: string | undefined;
  isOpen: boolean;
  onToggle(isOpen: boolean): void;
  onChange(text: string): void;
}

/** One collapsible section of the context. */
function ContextField({ label, hint, text, issue, isOpen, onToggle, onChange }: ContextFieldProps) {
  const noteId = useId();
  return (
    <Disclosure
      isOpen={isOpen || issue !== undefined}
      onToggle={onToggle}
      className="border-b border-line last:border-b-0"
      contentClass="flex flex-col gap-1 px-4 pt-0.5 pb-3"
      title={
        <>
          <span className="shrink-0 text-sm font-medium">{label}</span>
          <span className="min-w-0 flex-1 truncate text-xs text-ink-3 group-aria-expanded:invisible">
            {text.slice(0, 200)}
          </span>
          <CharacterCount text={text} />
        </>
      }
    >
      <p id={noteId} className={issue === undefined ? "text-xs text-ink-3" : "text-xs text-fail"}>
        {issue ?? hint}
      </p>
      <TextArea
        aria-label={label}
        aria-describedby={noteId}
        aria-invalid={issue === undefined ? undefined : true}
        value={text}
        onChange={({ target }) => onChange(target.value)}
      />
    </Disclosure>
  );
}

function CharacterCount({ text }: { text: string }) {
  if (text === "") return null;
  return (
    <span className="shrink-0 text-xs text-ink-3 tabular-nums">{counted(text.length, "character")}</span>
  );
}
