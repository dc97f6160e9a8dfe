import { samplingDefaults } from "@presage/contract/defaults";
import type { World } from "@presage/sdk";
import { useState } from "react";
import { type Draft, type Issues, type ParamField, paramFields } from "../../parts/playground-draft.ts";
import { paramsOf } from "../../parts/worlds.ts";
import { Disclosure } from "../../ui/card.tsx";
import { SelectField, TextAreaField, TextField } from "../../ui/form/fields.tsx";

interface ParamsFieldsProps {
  params: Draft["params"];
  /** The world's values are shown in place of the server's defaults. */
  world: World | undefined;
  issues: Issues;
  onChange(params: Draft["params"]): void;
}

const numbers = [
  { field: "max_tokens", inputMode: "numeric", placeholder: String(samplingDefaults.max_tokens) },
  { field: "temperature", inputMode: "decimal", placeholder: String(samplingDefaults.temperature) },
  { field: "top_p", inputMode: "decimal", placeholder: String(samplingDefaults.top_p) },
  { field: "top_k", inputMode: "numeric", placeholder: "off" },
] as const;

const choices = [
  {
    field: "enable_thinking",
    options: [
      { value: "true", label: "On" },
      { value: "false", label: "Off" },
    ],
  },
  {
    field: "reasoning_budget",
    options: [
      { value: "low", label: "Low" },
      { value: "medium", label: "Medium" },
      { value: "high", label: "High" },
    ],
  },
] as const;

export function ParamsFields({ params, world, issues, onChange }: ParamsFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  const given = world ? paramsOf(world.config) : {};
  const issueOf = (field: ParamField) => issues[`params.${field}`];
  const isInvalid = paramFields.some((field) => issueOf(field) !== undefined);
  const set = (field: ParamField, text: string) => {
    setOpen(true);
    onChange({ ...params, [field]: text });
  };
  return (
    <Disclosure
      isOpen={isOpen || isInvalid}
      onToggle={setOpen}
      contentClass="flex flex-col gap-3 px-4 pt-1 pb-4"
      title={
        <>
          <span className="shrink-0 text-sm font-medium">Parameters</span>
          <span className="min-w-0 flex-1 truncate text-right text-xs text-ink-3">
            {summary(params, world)}
          </span>
        </>
      }
    >
      <div className="grid grid-cols-2 gap-3 xl:grid-cols-4">
        {numbers.map(({ field, inputMode, placeholder }) => (
          <TextField
            key={field}
            label={<ParamName>{field}</ParamName>}
            issue={issueOf(field)}
            inputMode={inputMode}
            placeholder={String(given[field] ?? placeholder)}
            value={params[field]}
            onChange={(text) => set(field, text)}
            className="tabular-nums"
          />
        ))}
        {choices.map(({ field, options }) => (
          <div key={field} className="xl:col-span-2">
            <SelectField
              label={<ParamName>{field}</ParamName>}
              issue={issueOf(field)}
              value={params[field]}
              options={[{ value: "", label: "Not set" }, ...options]}
              onChange={(value) => set(field, value)}
            />
          </div>
        ))}
      </div>
      <TextAreaField
        label="Further parameters"
        hint="One JSON object, passed to the model unchanged."
        issue={issueOf("further")}
        placeholder={'{"stop": ["\\n\\n"], "seed": 7}'}
        value={params.further}
        onChange={(text) => set("further", text)}
      />
    </Disclosure>
  );
}

function ParamName({ children }: { children: string }) {
  return <span className="font-mono text-xs font-normal">{children}</span>;
}

function summary(params: Draft["params"], world: World | undefined): string {
  const set = paramFields.filter((field) => params[field].trim() !== "");
  if (set.length === 0) return world === undefined ? "Server defaults" : "The world’s";
  return set
    .map((field) => (field === "further" ? "further" : `${field} ${params[field].trim()}`))
    .join(", ");
}
