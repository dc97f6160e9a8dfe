import { humanizeName } from "../../../format/humanize-name.ts";
import { Field, FieldGroup } from "../../../ui/form/field.tsx";
import { Checkbox, TextArea, TextInput } from "../../../ui/form/inputs.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { TextList } from "../../../ui/form/text-list.tsx";
import type { ConfigField } from "./config-field.ts";
import { FieldHint } from "./field-hint.tsx";
import { JsonInput } from "./json-input.tsx";
import { NumberInput } from "./number-input.tsx";
import { SwitchField } from "./switch-field.tsx";

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
          const unknown = { value: text, label: text || "Choose one" };
          const options = field.options.includes(text) ? field.options : [unknown, ...field.options];
          return <Select {...control} value={text} options={options} onChange={onChange} />;
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

/** Invalid JSON is kept as a string, for which the server reports only a wrong type. */
function isUnreadJson({ kind }: ConfigField, value: unknown): boolean {
  return kind === "json" && typeof value === "string";
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
