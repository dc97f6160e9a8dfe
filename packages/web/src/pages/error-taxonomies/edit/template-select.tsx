import { SelectField } from "../../../ui/form/select.tsx";
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
    <SelectField
      label="Start from"
      hint={isOwn ? "The tree has been edited. Empty it to start from a template." : chosen?.description}
      disabled={isOwn}
      value={chosen?.id ?? ""}
      options={[
        { value: "", label: isOwn ? "Your own tree" : "An empty tree" },
        ...taxonomyTemplates.map(({ id, label }) => ({ value: id, label })),
      ]}
      onChange={(chosenId) => onChoose(taxonomyTemplates.find(({ id }) => id === chosenId))}
    />
  );
}
