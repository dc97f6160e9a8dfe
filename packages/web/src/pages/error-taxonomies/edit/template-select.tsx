import { Field } from "../../../ui/form/field.tsx";
import { Select } from "../../../ui/form/inputs.tsx";
import { type TaxonomyTemplate, taxonomyTemplates } from "./templates.ts";

interface TemplateSelectProps {
  /** Of the draft; a template replaces only what came from a template. */
  outline: string;
  onChoose(template: TaxonomyTemplate | undefined): void;
}

/** Fills the tree with a template, as long as nothing else is in it. */
export function TemplateSelect({ outline, onChoose }: TemplateSelectProps) {
  const chosen = taxonomyTemplates.find((template) => template.outline === outline);
  const isOwn = outline.trim() !== "" && chosen === undefined;
  return (
    <Field
      label="Start from"
      hint={isOwn ? "The tree has been edited. Empty it to start from a template." : chosen?.description}
    >
      {(control) => (
        <Select
          {...control}
          disabled={isOwn}
          value={chosen?.id ?? ""}
          onChange={({ target }) => onChoose(taxonomyTemplates.find(({ id }) => id === target.value))}
        >
          <option value="">{isOwn ? "Your own tree" : "An empty tree"}</option>
          {taxonomyTemplates.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
