import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { useSaveProfile } from "../../../data/evaluators.ts";
import { latestTaxonomiesQuery, taxonomyRevisionsQuery } from "../../../data/taxonomies.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/form/fields.tsx";
import {
  bindDraft,
  DraftForm,
  fieldIssues,
  type JsonObject,
  parseJsonObject,
  useDraft,
} from "../../../ui/form/form.tsx";
import { ConfigEditor } from "./config-editor.tsx";
import { type ConfigField, readConfigFields } from "./config-field.ts";

interface ProfileDialogProps {
  isOpen: boolean;
  onClose(): void;
  family: EvaluatorFamily;
  /** The newest revision of the profile to revise; absent for a new profile. */
  revised?: EvaluatorProfile | undefined;
  onSaved(profile: EvaluatorProfile): void;
}

export function ProfileDialog({ isOpen, onClose, family, revised, onSaved }: ProfileDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isWide
      hasForm
      title={revised === undefined ? `New profile of ${family.family_name}` : `Revise ${revised.name}`}
      hint={
        revised === undefined
          ? family.description
          : `Creates revision ${revised.revision + 1}. Earlier results keep the revision that they were made with.`
      }
    >
      <ProfileForm family={family} revised={revised} onSaved={onSaved} />
    </Dialog>
  );
}

/** Creates a profile, or adds a revision to one. */
function ProfileForm({ family, revised, onSaved }: Omit<ProfileDialogProps, "isOpen" | "onClose">) {
  const ownFields = useMemo(() => readConfigFields(family.profile_config_schema), [family]);
  // Someone else may revise the profile in the meantime.
  const [origin] = useState(revised);
  const initial = {
    name: origin?.name ?? "",
    description: origin?.description ?? "",
    config: JSON.stringify(origin?.config ?? {}, null, 2),
    side: "form",
  };
  const stored = useDraft(draftKey(family, origin), initial);
  const { draft, change } = stored;
  const config = parseJsonObject(draft.config);
  const fields = useKnownFields(family, ownFields, "value" in config ? config.value : undefined);
  const isSame =
    origin !== undefined &&
    "value" in config &&
    JSON.stringify(config.value) === JSON.stringify(origin.config) &&
    draft.description === initial.description;

  const save = useSaveProfile({ onSuccess: stored.discard });
  const toSave = (config: JsonObject): Parameters<typeof save.mutate>[0] =>
    revised === undefined
      ? {
          request: {
            evaluator_family: family.family_name,
            name: draft.name.trim(),
            config,
            description: draft.description.trim() || null,
          },
        }
      : {
          publicId: revised.public_id,
          request: {
            config,
            ...(draft.description !== initial.description && { description: draft.description.trim() }),
          },
        };

  const issues = fieldIssues(save.error, revised === undefined ? "name" : undefined);
  const field = bindDraft(draft, change, issues);
  const shownSettings = draft.side === "json" ? [["config"]] : fields.map(({ name }) => ["config", name]);
  return (
    <DraftForm
      save={save}
      request={"issue" in config || isSame ? undefined : toSave(config.value)}
      onSaved={onSaved}
      submitLabel={revised === undefined ? "Create profile" : `Save as revision ${revised.revision + 1}`}
      stored={stored}
      refused={issues}
      shownPaths={[["name"], ["description"], ...shownSettings]}
      revisions={{ before: origin, now: revised }}
    >
      {revised === undefined && (
        <TextField
          label="Name"
          hint="Evaluations refer to the profile by this name. It cannot be changed later."
          {...field("name")}
        />
      )}
      <TextField label="Description" {...field("description")} />
      <ConfigEditor
        fields={fields}
        text={draft.config}
        isJsonSide={draft.side === "json"}
        issues={issues}
        onChangeText={(text) => change({ config: text })}
        onChangeSide={(isJson) => change({ side: isJson ? "json" : "form" })}
      />
      {isSame && <p className="text-sm text-ink-3">No changes yet.</p>}
    </DraftForm>
  );
}

/** Includes the revision: a draft based on an earlier revision would undo later changes. */
function draftKey(family: EvaluatorFamily, revised: EvaluatorProfile | undefined): string {
  return revised === undefined
    ? `new profile of ${family.family_name}`
    : `profile ${revised.public_id} after ${revised.revision}`;
}

/** The settings of a family, with a choice in place of free text if the possible values can be listed. */
function useKnownFields(
  { family_name }: EvaluatorFamily,
  fields: readonly ConfigField[],
  config: JsonObject | undefined,
): readonly ConfigField[] {
  const presage = usePresage();
  const isTaxonomy = family_name === "error-taxonomy";
  const taxonomies = useQuery({ ...latestTaxonomiesQuery(presage), enabled: isTaxonomy });
  const chosen = taxonomies.data?.find(
    ({ error_taxonomy_name }) => error_taxonomy_name === config?.error_taxonomy_name,
  );
  const revisions = useQuery({
    ...taxonomyRevisionsQuery(presage, chosen?.error_taxonomy_id ?? ""),
    enabled: chosen !== undefined,
  });
  if (!isTaxonomy) return fields;
  const known: Record<string, string[] | undefined> = {
    error_taxonomy_name: taxonomies.data?.map(({ error_taxonomy_name }) => error_taxonomy_name),
    label: revisions.data && [...new Set(revisions.data.flatMap(({ labels }) => labels))].sort(),
  };
  return fields.map((field) => {
    const options = known[field.name];
    return field.kind === "text" && options !== undefined && options.length > 0
      ? { ...field, kind: "choice", options }
      : field;
  });
}
