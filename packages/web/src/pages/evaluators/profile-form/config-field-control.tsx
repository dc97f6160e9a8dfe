import { type ReactNode, useId, useState } from "react";
import { humanizeName } from "../../../format/words.ts";
import { WithCode } from "../../../ui/code/code-block.tsx";
import { Field, type FieldControl, FieldGroup } from "../../../ui/form/fields.tsx";
import { parseJson } from "../../../ui/form/form.tsx";
import { Checkbox, TextArea, TextInput } from "../../../ui/form/inputs.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { TextList } from "../../../ui/form/text-list.tsx";
import type { ConfigField } from "./config-field.ts";

interface ConfigFieldControlProps {
  field: ConfigField;
  /** Undefined if the config does not set it. */
  value: unknown;
  issue: string | undefined;
  /** `undefined` removes the setting, so that its default applies. */
  onChange(value: unknown): void;
}

export function ConfigFieldControl({ field, value, issue, onChange }: ConfigFieldControlProps) {
  const label = humanizeName(field.name);
  const around = {
    label,
    hint: <FieldHint field={field} />,
    issue: isUnreadJson(field, value) ? issue && "Invalid JSON." : issue,
    aside: (
      <Aside field={field} isSet={value !== undefined} label={label} onReset={() => onChange(undefined)} />
    ),
  };
  const effective = value ?? field.fallback;

  if (field.kind === "switch") {
    return <SwitchField {...around} isOn={effective === true} onChange={onChange} />;
  }
  if (field.kind === "texts") {
    const itemLabel = label.replace(/s$/, "");
    return (
      <FieldGroup {...around}>
        <TextList itemLabel={itemLabel} texts={textsIn(effective)} onChange={onChange} />
      </FieldGroup>
    );
  }
  if (field.kind === "choices") {
    const chosen = textsIn(effective);
    return (
      <FieldGroup {...around}>
        <div className="flex flex-wrap gap-x-4 gap-y-2">
          {field.options.map((option) => (
            <Checkbox
              key={option}
              label={humanizeName(option)}
              checked={chosen.includes(option)}
              onChange={({ target }) =>
                onChange(
                  field.options.filter((known) =>
                    known === option ? target.checked : chosen.includes(known),
                  ),
                )
              }
            />
          ))}
        </div>
      </FieldGroup>
    );
  }
  return (
    <Field {...around}>
      {(control) => {
        if (field.kind === "number") {
          const placeholder = field.fallback === undefined ? "" : String(field.fallback);
          return (
            <NumberInput control={control} value={value} placeholder={placeholder} onChange={onChange} />
          );
        }
        if (field.kind === "json") return <JsonInput control={control} value={value} onChange={onChange} />;
        const text = typeof effective === "string" ? effective : "";
        if (field.kind === "choice") {
          const none = text === "" ? [{ value: "", label: "Choose one" }] : [];
          return (
            <Select {...control} value={text} options={[...none, ...field.options]} onChange={onChange} />
          );
        }
        const set = (next: string) => onChange(next === "" && !field.isRequired ? undefined : next);
        return field.isLong || text.includes("\n") ? (
          <TextArea
            {...control}
            className="min-h-24!"
            value={text}
            onChange={({ target }) => set(target.value)}
          />
        ) : (
          <TextInput {...control} value={text} onChange={({ target }) => set(target.value)} />
        );
      }}
    </Field>
  );
}

function FieldHint({ field: { description, fallback, kind } }: { field: ConfigField }) {
  const hasDefault = fallback !== undefined && kind !== "switch" && !isEmptyList(fallback);
  return (
    <>
      {description !== undefined && <WithCode text={description} />}
      {hasDefault && (
        <span>
          {description !== undefined && " "}
          Default: {Array.isArray(fallback) ? fallback.join(", ") : String(fallback)}.
        </span>
      )}
    </>
  );
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Invalid JSON is kept as a string; the server would only report that its type is wrong. */
function isUnreadJson({ kind }: ConfigField, value: unknown): boolean {
  return kind === "json" && typeof value === "string";
}

function Aside({
  field,
  isSet,
  label,
  onReset,
}: {
  field: ConfigField;
  isSet: boolean;
  label: string;
  onReset(): void;
}) {
  if (field.isRequired) return <span className="text-xs font-normal text-ink-3">Required</span>;
  if (!isSet || field.fallback === undefined) return null;
  return (
    <button
      type="button"
      className="rounded text-xs font-normal text-accent-ink hover:underline"
      onClick={onReset}
    >
      Use default
      <span className="sr-only"> of {label}</span>
    </button>
  );
}

interface SwitchFieldProps {
  label: string;
  hint: ReactNode;
  issue: string | undefined;
  /** To the right of the label. */
  aside: ReactNode;
  isOn: boolean;
  onChange(isOn: boolean): void;
}

/** A checkbox with its label next to it. */
function SwitchField({ label, hint, issue, aside, isOn, onChange }: SwitchFieldProps) {
  const noteId = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex items-baseline justify-between gap-2">
        <Checkbox
          label={label}
          aria-describedby={noteId}
          aria-invalid={issue === undefined ? undefined : true}
          checked={isOn}
          onChange={({ target }) => onChange(target.checked)}
        />
        {aside}
      </div>
      <p
        id={noteId}
        className={issue === undefined ? "text-xs text-ink-3 empty:hidden" : "text-xs text-fail"}
      >
        {issue ?? hint}
      </p>
    </div>
  );
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

interface NumberInputProps {
  control: FieldControl;
  value: unknown;
  placeholder: string;
  onChange(value: unknown): void;
}

/** Keeps unfinished input such as “0.”. Input that is not a number is passed on as a string, which the server rejects. */
function NumberInput({ control, value, placeholder, onChange }: NumberInputProps) {
  const [typed, setTyped] = useState("");
  const shown = readNumber(typed) === value ? typed : asText(value);
  return (
    <TextInput
      {...control}
      inputMode="decimal"
      className="max-w-40 tabular-nums"
      placeholder={placeholder}
      value={shown}
      onChange={({ target }) => {
        setTyped(target.value);
        onChange(readNumber(target.value));
      }}
    />
  );
}

function readNumber(text: string): number | string | undefined {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function asText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface JsonInputProps {
  control: FieldControl;
  value: unknown;
  onChange(value: unknown): void;
}

/** Edits a value as JSON. Invalid JSON is passed on as a string, which the server rejects. */
function JsonInput({ control, value, onChange }: JsonInputProps) {
  const [typed, setTyped] = useState(textOf(value));
  const shown = textOf(readValue(typed)) === textOf(value) ? typed : textOf(value);
  return (
    <TextArea
      {...control}
      className="min-h-32!"
      placeholder="{ }"
      value={shown}
      onChange={({ target }) => {
        setTyped(target.value);
        onChange(readValue(target.value));
      }}
    />
  );
}

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function readValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  const parsed = parseJson(text);
  return "value" in parsed ? parsed.value : text;
}
