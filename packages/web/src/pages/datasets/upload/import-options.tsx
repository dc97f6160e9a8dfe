import type { ImportFormat, ImportOptions } from "@presage/sdk";
import type { ReactNode } from "react";
import { Fold } from "../../../ui/card.tsx";
import { WithCode } from "../../../ui/code/code-block.tsx";
import { SelectField } from "../../../ui/form/fields.tsx";
import { Checkbox } from "../../../ui/form/inputs.tsx";

export type ChosenOptions = ImportOptions & { append?: boolean };

interface ImportOptionFieldsProps {
  options: ChosenOptions;
  onChange(options: ChosenOptions): void;
  formats: readonly ImportFormat[];
  /** Whether there is a revision whose samples can be kept. */
  canAppend: boolean;
  /** Shown next to the layout. */
  children: ReactNode;
}

const choices = {
  assistant_is: {
    label: "The assistant is",
    hint: "Who speaks as the assistant of a conversation.",
    options: { "": "Detected", agent: "The agent", environment: "The environment" },
  },
  on_fault: {
    label: "Faulty lines",
    hint: "If more than half are faulty, the import is refused nonetheless.",
    options: { "": "Refuse the import", skip: "Leave them out" },
  },
  redact: {
    label: "Secrets",
    hint: "By default replaced, except in presage, chat, llm-sim and predictions.",
    options: {
      "": "Default",
      default: "Replace keys, tokens and passwords",
      strict: "Replace values named like secrets too",
      none: "Store them as they are",
    },
  },
  split_by: {
    label: "Split",
    hint: "Tags a fifth as test and the rest as train.",
    options: { "": "None", trajectory: "By trajectory", task: "By task" },
  },
} as const;

/** How files become samples: their layout and, in a fold, options that are rarely needed. */
export function ImportOptionFields({
  options,
  onChange,
  formats,
  canAppend,
  children,
}: ImportOptionFieldsProps) {
  const set = (name: keyof ChosenOptions, value: string | boolean | undefined) => {
    const { [name]: _, ...others } = options;
    onChange(value ? { ...others, [name]: value } : others);
  };
  return (
    <>
      <div className="grid gap-3 sm:auto-cols-fr sm:grid-flow-col">
        {children}
        <SelectField
          label="Format"
          value={options.format ?? ""}
          options={[
            { value: "", label: "Detected" },
            ...formats.map(({ format, title }) => ({ value: format, label: `${format}: ${title}` })),
          ]}
          onChange={(format) => set("format", format)}
        />
      </div>
      <Fold title="Further options">
        <div className="grid gap-3 sm:grid-cols-2">
          {Object.entries(choices).map(([name, { label, hint, options: labels }]) => (
            <SelectField
              key={name}
              label={label}
              hint={hint}
              value={String(options[name as keyof typeof choices] ?? "")}
              options={Object.entries(labels).map(([value, label]) => ({ value, label }))}
              onChange={(value) => set(name as keyof typeof choices, value)}
            />
          ))}
        </div>
        <Checkbox
          label="Keep the agent’s thoughts, as the tag thought"
          checked={options.keep !== undefined}
          onChange={({ target }) => set("keep", target.checked ? "thoughts" : undefined)}
        />
        {canAppend && (
          <Checkbox
            label="Keep the samples of the latest revision before these"
            checked={options.append === true}
            onChange={({ target }) => set("append", target.checked)}
          />
        )}
      </Fold>
    </>
  );
}

/** The layouts that the server reads, with a small example file for each. */
export function LayoutList({ formats }: { formats: readonly ImportFormat[] }) {
  if (formats.length === 0) return null;
  return (
    <Fold title="Layouts that Presage reads" note="Each is recognised by the contents of a file.">
      <dl className="flex flex-col gap-3 text-xs">
        {formats.map(({ format, title, recognised_by, example }) => (
          <div key={format}>
            <dt className="font-medium">
              <code className="font-mono">{format}</code>: {title}
            </dt>
            <dd className="flex flex-col gap-1 text-ink-2">
              <span>
                Recognised by <WithCode text={recognised_by} />
              </span>
              <code className="line-clamp-3 font-mono wrap-anywhere text-ink-3" title={example}>
                {example}
              </code>
            </dd>
          </div>
        ))}
      </dl>
    </Fold>
  );
}
