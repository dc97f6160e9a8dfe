import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { useSaveTaxonomy } from "../../../data/evaluation/error-taxonomies.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { DraftForm } from "../../../ui/form/draft-form.tsx";
import { fieldIssues, issueAt, otherIssues } from "../../../ui/form/field-issues.ts";
import { TextField } from "../../../ui/form/text-field.tsx";
import { useDraft } from "../../../ui/form/use-draft.ts";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { TaxonomyEditor } from "./taxonomy-editor.tsx";
import { TemplateSelect } from "./template-select.tsx";
import { taxonomyTemplates } from "./templates.ts";
import { draftOfBody, readTree } from "./tree-draft.ts";

interface TaxonomyFormProps {
  /** The revision to start from. */
  origin?: ErrorTaxonomyRevision | undefined;
  /** False: saves a new revision of the origin's taxonomy. */
  isNewTaxonomy: boolean;
  onSaved(revision: ErrorTaxonomyRevision): void;
}

const fields = [["error_taxonomy_name"], ["error_taxonomy_description"], ["body"]];

/** Creates a taxonomy, or adds a revision to one. */
function TaxonomyForm({ origin, isNewTaxonomy, onSaved }: TaxonomyFormProps) {
  const key = `${isNewTaxonomy ? "taxonomy" : "revision"} from ${origin?.id ?? "nothing"}`;
  const { draft, isChanged, change, discard } = useDraft(key, {
    name: "",
    description: origin?.error_taxonomy_description ?? "",
    ...draftOfBody(origin?.body ?? {}),
  });
  const { body, issues: treeIssues, nodes } = readTree(draft);
  const isReady = treeIssues.length === 0 && nodes.length > 0;

  const save = useSaveTaxonomy({ onSuccess: discard });
  const request = body && {
    ...(isNewTaxonomy
      ? { error_taxonomy_name: draft.name.trim(), create_only_if_not_exists: true }
      : { error_taxonomy_id: origin?.error_taxonomy_id }),
    error_taxonomy_description: draft.description.trim(),
    body,
  };

  const issues = fieldIssues(save.error, isNewTaxonomy ? "error_taxonomy_name" : undefined);
  const elsewhere = otherIssues(issues, fields);
  return (
    <DraftForm
      save={save}
      request={isReady ? request : undefined}
      onSaved={onSaved}
      submitLabel={isNewTaxonomy ? "Create taxonomy" : "Save as new revision"}
      isChanged={isChanged}
      discard={discard}
    >
      {isNewTaxonomy && (
        <TextField
          label="Name"
          hint="Profiles refer to it by this name. It cannot be changed later."
          issue={issueAt(issues, "error_taxonomy_name")}
          value={draft.name}
          onChange={(name) => change({ name })}
        />
      )}
      <TextField
        label="Description"
        hint={isNewTaxonomy ? undefined : "Applies to all revisions of the taxonomy."}
        issue={issueAt(issues, "error_taxonomy_description")}
        value={draft.description}
        onChange={(description) => change({ description })}
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
      {save.error !== null && (issues.length === 0 || elsewhere.length > 0) && (
        <ErrorNotice error={save.error} />
      )}
    </DraftForm>
  );
}

/** A description that the user wrote stays. */
function isFromTemplate(text: string): boolean {
  return text.trim() === "" || taxonomyTemplates.some(({ description }) => description === text);
}

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
    <Dialog isOpen={isOpen} onClose={onClose} isWide title={title} hint={hint}>
      <TaxonomyForm {...form} />
    </Dialog>
  );
}
