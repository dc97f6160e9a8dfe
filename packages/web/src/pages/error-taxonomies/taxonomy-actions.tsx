import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { useNavigate } from "@tanstack/react-router";
import { Copy, Pencil } from "lucide-react";
import { useState } from "react";
import { isBuiltIn } from "../../data/evaluation/error-taxonomies.ts";
import { AllowedButton } from "../../session/allowed-button.tsx";
import { TaxonomyDialog } from "./edit/taxonomy-dialog.tsx";

interface TaxonomyActionsProps {
  /** The revision on the page. */
  revision: ErrorTaxonomyRevision;
  newest: ErrorTaxonomyRevision;
}

export function TaxonomyActions({ revision, newest }: TaxonomyActionsProps) {
  const [open, setOpen] = useState<"copy" | "revise">();
  const navigate = useNavigate();
  const close = () => setOpen(undefined);

  function show({ error_taxonomy_id }: ErrorTaxonomyRevision) {
    close();
    // The URL needs no revision: the new one is the newest.
    return navigate({ to: "/error-taxonomies/$taxonomyId", params: { taxonomyId: error_taxonomy_id } });
  }

  return (
    <>
      <AllowedButton needs="evaluate" icon={<Copy aria-hidden />} onClick={() => setOpen("copy")}>
        Copy
      </AllowedButton>
      {!isBuiltIn(revision) && (
        <AllowedButton
          needs="evaluate"
          variant="primary"
          icon={<Pencil aria-hidden />}
          onClick={() => setOpen("revise")}
        >
          New revision
        </AllowedButton>
      )}
      <TaxonomyDialog
        isOpen={open === "copy"}
        onClose={close}
        title={`Copy ${revision.error_taxonomy_name}`}
        hint={`Creates a taxonomy of your own from revision ${revision.revision}.`}
        origin={revision}
        isNewTaxonomy
        onSaved={show}
      />
      <TaxonomyDialog
        isOpen={open === "revise"}
        onClose={close}
        title={`New revision of ${revision.error_taxonomy_name}`}
        hint={`Starts from revision ${revision.revision} and becomes revision ${newest.revision + 1}. Labels stay where they are.`}
        origin={revision}
        isNewTaxonomy={false}
        onSaved={show}
      />
    </>
  );
}
