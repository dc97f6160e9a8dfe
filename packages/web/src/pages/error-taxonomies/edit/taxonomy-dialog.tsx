import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { useSaveTaxonomy } from "../../../data/taxonomies.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { bindDraft, DraftForm, fieldIssues, issueAt, useDraft } from "../../../ui/form/form.tsx";
import { TaxonomyEditor } from "./taxonomy-editor.tsx";
import { draftOfBody, readTree } from "./tree-draft.ts";

interface TaxonomyDialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  hint: string;
  /** The revision to start from. */
  origin?: ErrorTaxonomyRevision;
  /** False: saves a new revision of the origin's taxonomy. */
  isNewTaxonomy: boolean;
  onSaved(revision: ErrorTaxonomyRevision): void;
}

export function TaxonomyDialog({ isOpen, onClose, title, hint, ...form }: TaxonomyDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} isWide hasForm title={title} hint={hint}>
      <TaxonomyForm {...form} />
    </Dialog>
  );
}

type TaxonomyFormProps = Pick<TaxonomyDialogProps, "origin" | "isNewTaxonomy" | "onSaved">;

const shownPaths = [["error_taxonomy_name"], ["error_taxonomy_description"], ["body"]];

/** Creates a taxonomy, or adds a revision to one. */
function TaxonomyForm({ origin, isNewTaxonomy, onSaved }: TaxonomyFormProps) {
  const key = `${isNewTaxonomy ? "taxonomy" : "revision"} from ${origin?.id ?? "nothing"}`;
  const stored = useDraft(key, {
    name: "",
    description: origin?.error_taxonomy_description ?? "",
    ...draftOfBody(origin?.body ?? {}),
  });
  const { draft, change } = stored;
  const { body, issues: treeIssues, nodes } = readTree(draft);
  const isReady = treeIssues.length === 0 && nodes.length > 0;

  const save = useSaveTaxonomy({ onSuccess: stored.discard });
  const request = body && {
    ...(isNewTaxonomy
      ? { error_taxonomy_name: draft.name.trim(), create_only_if_not_exists: true }
      : { error_taxonomy_id: origin?.error_taxonomy_id }),
    error_taxonomy_description: draft.description.trim(),
    body,
  };

  const issues = fieldIssues(save.error, isNewTaxonomy ? "error_taxonomy_name" : undefined);
  const field = bindDraft(draft, change, issues);
  return (
    <DraftForm
      save={save}
      request={isReady ? request : undefined}
      onSaved={onSaved}
      submitLabel={isNewTaxonomy ? "Create taxonomy" : "Save as new revision"}
      stored={stored}
      refused={issues}
      shownPaths={shownPaths}
    >
      {isNewTaxonomy && (
        <TextField
          label="Name"
          hint="Profiles refer to it by this name. It cannot be changed later."
          {...field("name", "error_taxonomy_name")}
        />
      )}
      <TextField
        label="Description"
        hint={isNewTaxonomy ? undefined : "Applies to all revisions of the taxonomy."}
        {...field("description", "error_taxonomy_description")}
      />
      {isNewTaxonomy && origin === undefined && draft.side !== "json" && (
        <TemplateSelect
          outline={draft.outline}
          onChoose={(template) =>
            change({
              outline: template?.outline ?? "",
              ...(isFromTemplate(draft.description) && { description: template?.description ?? "" }),
            })
          }
        />
      )}
      <TaxonomyEditor draft={draft} issue={issueAt(issues, "body")} onChange={change} />
    </DraftForm>
  );
}

/** A tree to start from. Templates are short: a judge tells few kinds apart more reliably than many. */
interface TaxonomyTemplate {
  id: string;
  label: string;
  description: string;
  outline: string;
}

interface TemplateSelectProps {
  /** The draft's outline; a template only replaces text from a template. */
  outline: string;
  onChoose(template: TaxonomyTemplate | undefined): void;
}

export const taxonomyTemplates: readonly TaxonomyTemplate[] = [
  {
    id: "text-world",
    label: "Text world: state and effects",
    description: "What a model of a text world gets wrong in one step.",
    outline: `What stays
  invented object: Something is there that neither state nor action accounts for.
  lost object: Something that was there is gone without a cause.
  changed without cause: Something that the action does not touch is different.
What changes
  effect missing: A change that the action must cause is not there.
  wrong effect: The action causes another change than it should.
  state copied: The old state is given back although the action changes it.
Rules
  ignored precondition: The action succeeds although something that it needs is missing.
  refused without reason: The action fails although all that it needs is given.
Words
  wrong name or number: A name, a count or another literal text is not as it must be.
  not the environment's words: The meaning is right, but not how the environment says it.`,
  },
  {
    id: "tool-calls",
    label: "Tool calls: JSON responses",
    description: "What a model of tools and programs answers wrongly.",
    outline: `Form
  broken JSON: The response cannot be parsed.
  missing field: A field that the tool always returns is not there.
  invented field: A field is there that the tool never returns.
  wrong type: A field has another type than the tool returns.
Content
  wrong value: A value that follows from state and call is another one.
  invented record: A record is returned that does not exist.
  lost record: A record that must be returned is not there.
  wrong order or page: Records are right, but sorted or cut otherwise.
Outcome
  success instead of error: A call that must fail succeeds.
  error instead of success: A call that must succeed fails.
  wrong error: The call rightly fails, but with another error.
  effect not kept: An earlier call's effect is not seen in this response.`,
  },
  {
    id: "rollouts",
    label: "Rollouts: drift over steps",
    description: "What goes wrong when a model is told its own predictions, step after step.",
    outline: `Memory
  forgot an earlier effect: What an earlier step changed is as it was before.
  undid an effect: Something that was settled returns without an action.
  mixed up objects: Two things, rooms or records have become one, or one has become two.
Drift
  error carried on: It is consistent with an earlier wrong state, but not with the world.
  error made worse: An earlier error leads to further ones.
  repeats itself: The same text comes again although the action is another one.
  degenerate text: The text falls apart, breaks off or never ends.
Recovery
  contradicts itself: It contradicts what it said in an earlier step.
  sudden correction: An earlier error disappears without any action.`,
  },
];

/** Fills the tree with a template, unless it contains anything else. */
function TemplateSelect({ outline, onChoose }: TemplateSelectProps) {
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

/** Whether a description may be replaced: one that the user wrote is kept. */
function isFromTemplate(text: string): boolean {
  return text.trim() === "" || taxonomyTemplates.some(({ description }) => description === text);
}
