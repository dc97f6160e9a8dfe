import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { TaxonomyForm } from "./taxonomy-form.tsx";

interface TaxonomyDialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  hint: string;
  /** The revision to begin with. */
  origin?: ErrorTaxonomyRevision;
  /** A new taxonomy, or a new revision of the origin's. */
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
