import { Segmented } from "../../../ui/form/choices.tsx";
import { TextAreaField } from "../../../ui/form/fields.tsx";
import { type FieldIssue, issueAt, type JsonObject, parseJsonObject } from "../../../ui/form/form.tsx";
import type { ConfigField } from "./config-field.ts";
import { ConfigFieldControl } from "./config-field-control.tsx";

interface ConfigEditorProps {
  fields: readonly ConfigField[];
  /** JSON, possibly incomplete. */
  text: string;
  isJsonSide: boolean;
  /** Issues whose paths begin with `config`. */
  issues: readonly FieldIssue[];
  onChangeText(text: string): void;
  onChangeSide(isJsonSide: boolean): void;
}

/** Edits the config as a form or as JSON. The JSON text is the source of truth. */
export function ConfigEditor({
  fields,
  text,
  isJsonSide,
  issues,
  onChangeText,
  onChangeSide,
}: ConfigEditorProps) {
  const config = parseJsonObject(text);
  const isForm = !isJsonSide && "value" in config;
  return (
    <section aria-label="Config" className="flex min-w-0 flex-col gap-4 rounded-lg border border-line p-4">
      <header className="flex items-center justify-between gap-2">
        <h3 className="text-sm font-semibold">Config</h3>
        <Segmented
          label="Edit the config as"
          value={isForm ? "form" : "json"}
          options={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
          ]}
          onChange={(side) => onChangeSide(side === "json")}
        />
      </header>
      {isForm ? (
        <ConfigFields fields={fields} config={config.value} issues={issues} onChangeText={onChangeText} />
      ) : (
        <TextAreaField
          label={<span className="sr-only">Config as JSON</span>}
          hint={"issue" in config ? undefined : "The same config as in the form."}
          issue={"issue" in config ? config.issue : allOf(issues)}
          className="min-h-40!"
          value={text}
          onChange={onChangeText}
        />
      )}
    </section>
  );
}

interface ConfigFieldsProps {
  fields: readonly ConfigField[];
  config: JsonObject;
  issues: readonly FieldIssue[];
  onChangeText(text: string): void;
}

function ConfigFields({ fields, config, issues, onChangeText }: ConfigFieldsProps) {
  const unknown = Object.keys(config).filter((name) => !fields.some((field) => field.name === name));
  function set(name: string, value: unknown) {
    // `undefined` removes the setting.
    onChangeText(JSON.stringify({ ...config, [name]: value }, null, 2));
  }
  return (
    <>
      {fields.map((field) => (
        <ConfigFieldControl
          key={field.name}
          field={field}
          value={config[field.name]}
          issue={issueAt(issues, "config", field.name)}
          onChange={(value) => set(field.name, value)}
        />
      ))}
      {unknown.length > 0 && (
        <p className="text-xs text-warn">
          Only visible as JSON: <span className="font-mono">{unknown.join(", ")}</span>
        </p>
      )}
    </>
  );
}

function allOf(issues: readonly FieldIssue[]): string | undefined {
  const texts = issues
    .filter(({ path }) => path[0] === "config")
    .map(({ path, text }) => [path.slice(1).join("."), text].filter((part) => part !== "").join(": "));
  return texts.length === 0 ? undefined : texts.join(". ");
}
